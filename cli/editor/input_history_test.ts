import { assert, assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { HistoryFile } from "./history_file.ts";
import { openInputHistory } from "./input_history.ts";

const now = () => 1;

Deno.test("openInputHistory() keeps inputs for later conversations, in a file that only the user can read", async () => {
  await using directory = await createTemporaryDirectory();
  const path = `${directory.path}/state`;
  const first = await openInputHistory({ directory: path, now });
  assertEquals(first.entries, []);
  await first.add("one");
  await first.add("two\nwith lines");
  await first.add("two\nwith lines");
  await first.add("  ");
  assertEquals(first.entries, ["two\nwith lines", "one"]);
  const second = await openInputHistory({ directory: path, now });
  assertEquals(second.entries, ["two\nwith lines", "one"]);
  if (Deno.build.os === "windows") return;
  const modes = [path, `${path}/history.jsonl`].map((file) =>
    (Deno.statSync(file).mode ?? 0) & 0o777
  );
  assertEquals(modes, [0o700, 0o600]);
  Deno.chmodSync(`${path}/history.jsonl`, 0o644);
  await second.add("three");
  assertEquals((Deno.statSync(`${path}/history.jsonl`).mode ?? 0) & 0o777, 0o600);
});

Deno.test("openInputHistory() never keeps keys", async () => {
  await using directory = await createTemporaryDirectory();
  const { path } = directory;
  const history = await openInputHistory({ directory: path, now, secrets: ["hidden-value"] });
  await history.add("sk-ant-REDACTED");
  await history.add("#key openai abc");
  await history.add("say hidden-value");
  await history.add("x".repeat(100_000));
  await history.add("kept");
  assertEquals(history.entries, ["kept"]);
  const file = Deno.readTextFileSync(`${path}/history.jsonl`);
  assertEquals(file, '{"text":"kept","at":1}\n');
});

Deno.test("openInputHistory() works without a directory, and reports one that cannot be used once", async () => {
  const history = await openInputHistory({ directory: undefined, now });
  await history.add("one");
  assertEquals(history.entries, ["one"]);
  await using directory = await createTemporaryDirectory({ file: "not a directory" });
  const failures: unknown[] = [];
  const failing = await openInputHistory({
    directory: `${directory.path}/file`,
    now,
    onFailure: (error) => failures.push(error),
  });
  await failing.add("one");
  await failing.add("two");
  assertEquals(failing.entries, ["two", "one"]);
  assertEquals(failures.length, 1);
});

Deno.test("openInputHistory() does not wait for the writer of a pipe at the path of its file", async () => {
  if (Deno.build.os === "windows") return;
  await using directory = await createTemporaryDirectory();
  const { path } = directory;
  await new Deno.Command("mkfifo", { args: [`${path}/history.jsonl`] }).output();
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const history = await openInputHistory({ directory: path, now, onFailure });
  await history.add("one");
  assertEquals(history.entries, ["one"]);
  assertEquals(failures.length, 1);
});

Deno.test("HistoryFile: omits damaged lines, and appends after one that has no end", async () => {
  await using directory = await createTemporaryDirectory({
    "history.jsonl":
      '{"text":"a","at":1}\nnull\n{"text":7}\n\xff\n{"text":"b","at":2}\n{"text":"cut',
  });
  const file = new HistoryFile(`${directory.path}/history.jsonl`, { maxEntries: 10 });
  assertEquals(await file.read(), ["a", "b"]);
  await file.append({ text: "c", at: 3 });
  assertEquals(await file.read(), ["a", "b", "c"]);
});

Deno.test("HistoryFile: is shortened to the latest entries", async () => {
  await using directory = await createTemporaryDirectory();
  const path = `${directory.path}/history.jsonl`;
  const file = new HistoryFile(path, { maxEntries: 5 });
  for (let index = 0; index < 23; index++) {
    await file.append({ text: `entry number ${index}`, at: index });
  }
  assertEquals((await file.read()).at(-1), "entry number 22");
  const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
  assert(lines.length <= 10, `${lines.length} lines`);
  assertEquals([...Deno.readDirSync(directory.path)].length, 1);
  const large = new HistoryFile(path, { maxEntries: 1_000 });
  for (let index = 0; index < 100; index++) {
    await large.append({ text: "x".repeat(60_000), at: index });
  }
  assert(Deno.statSync(path).size < 4_400_000);
});

Deno.test("HistoryFile: several writers lose no entry, also while the file is shortened", async () => {
  await using directory = await createTemporaryDirectory();
  const path = `${directory.path}/history.jsonl`;
  const writers = Array.from({ length: 4 }, () => new HistoryFile(path, { maxEntries: 100 }));
  await Promise.all(writers.map(async (writer, name) => {
    for (let index = 0; index < 60; index++) {
      await writer.append({ text: `writer ${name} entry ${index}`, at: index });
    }
  }));
  const texts = Deno.readTextFileSync(path).trimEnd().split("\n").map((line) =>
    JSON.parse(line).text
  );
  assert(texts.length >= 40 && texts.length <= 200, `${texts.length} entries`);
  for (const name of writers.keys()) {
    const own = texts.filter((text) => text.startsWith(`writer ${name}`));
    const indexes = own.map((text) => Number(text.split(" ").at(-1)));
    // The latest entries of each writer are there, in their order and without gaps.
    assertEquals(indexes, Array.from(indexes, (_, at) => 60 - indexes.length + at));
  }
});
