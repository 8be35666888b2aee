/**
 * `swink sessions`.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { main } from "../../cli/main.ts";
import { findLastSession } from "../../cli/sessions/find_session.ts";
import { formatAge } from "../../cli/sessions/session_list.ts";
import { FileSessionStore } from "../../src/memory/mod.ts";
import { createFakeHost, FAKE_TIME, type FakeHostOptions } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const HOUR_MS = 3_600_000;

/** Creates a home directory with sessions: two of this directory and one of another. */
async function createHome(): Promise<TemporaryDirectory> {
  const home = await createTemporaryDirectory();
  const directory = `${home.path}/.local/state/swink/sessions`;
  const sessions = [
    { id: "old", cwd: Deno.cwd(), text: "Write a poem", age: 100 * 24 * HOUR_MS },
    { id: "new-1", cwd: Deno.cwd(), text: "Fix the\u001b[31m parser\u009b", age: 2 * HOUR_MS },
    { id: "new-2", cwd: home.path, text: "Other work", age: 60_000 },
  ];
  for (const { id, cwd, text, age } of sessions) {
    const time = FAKE_TIME - age;
    const store = new FileSessionStore({ directory, now: () => time });
    await using session = await store.create({ id, cwd });
    const message = { role: "user", content: [{ type: "text", text }], timestamp: time } as const;
    session.append({ type: "message", message });
  }
  return home;
}

/** Runs `swink sessions`. */
async function run(
  home: TemporaryDirectory,
  args: readonly string[],
  options: FakeHostOptions = {},
) {
  const host = createFakeHost({ env: { HOME: home.path, NO_COLOR: "1" }, ...options });
  const code = await main(["sessions", ...args], host);
  const hide = (text: string) => text.replaceAll(home.path, "HOME");
  return { code, output: hide(host.output), messages: hide(host.messages) };
}

async function listIds(home: TemporaryDirectory): Promise<string[]> {
  const { output } = await run(home, ["list", "--all", "-ojson"]);
  return JSON.parse(output).map(({ id }: { id: string }) => id);
}

Deno.test("swink sessions list: lists the sessions of the directory, or all", async () => {
  await using home = await createHome();
  assertEquals(await run(home, ["list"]), {
    code: 0,
    output: "new-1  2 h    1 message  $0.00  Fix the parser\n" +
      "old    100 d  1 message  $0.00  Write a poem\n",
    messages: "",
  });
  const { output, messages } = await run(home, ["list", "--all", "--limit", "1"]);
  assertEquals(output, "new-2  1 min  1 message  $0.00  ~  Other work\n");
  assertEquals(messages, "There are older ones: --limit lists more than 1\n");
  const json = await run(home, ["list", "--all", "--limit", "1", "-o", "json"]);
  assertEquals([JSON.parse(json.output).length, json.messages], [1, ""]);
});

Deno.test("swink sessions list: counts the sessions that cannot be opened, and says where to find out why", async () => {
  await using home = await createHome();
  const directory = `${home.path}/.local/state/swink/sessions`;
  await Deno.writeTextFile(`${directory}/broken.jsonl`, "no session\n");
  assertEquals(
    (await run(home, ["list"])).messages,
    "1 session cannot be opened: swink sessions list --all\n",
  );
  assertEquals((await run(home, ["list", "-ojson"])).messages, "");
  const { output, messages } = await run(home, ["list", "--all"]);
  assertStringIncludes(output, 'Cannot open the session "broken"');
  const advice = "Why one cannot be opened, and what to do:\n  swink sessions show broken\n";
  assertEquals(messages, advice);
  assertMatch(
    (await run(home, ["show", "broken"])).messages,
    /another program wrote its file: move it to another directory/,
  );
  // The oldest ones are on a later page.
  for (let index = 0; index < 20; index++) {
    const store = new FileSessionStore({ directory });
    await using session = await store.create({ id: `talk-${index}`, cwd: Deno.cwd() });
    session.append({ type: "title", title: "Talk" });
  }
  await Deno.utime(`${directory}/broken.jsonl`, 1, 1);
  const [, later] = (await run(home, ["list"])).messages.split("\n");
  assertEquals(later, "1 session cannot be opened: swink sessions list --all --limit 24");
  const [, args = ""] = (later ?? "").split("swink sessions ");
  assertEquals((await run(home, args.split(" "))).messages, advice);
  await Deno.writeTextFile(`${directory}/broken-2.jsonl`, "no session\n");
  assertStringIncludes(
    (await run(home, ["list"])).messages,
    "2 sessions cannot be opened: swink sessions list --all --limit 25\n",
  );
});

Deno.test("swink sessions list: cuts lines at the width of a terminal", async () => {
  await using home = await createHome();
  const { output } = await run(home, ["list"], { terminals: ["output"], columns: 24 });
  assertEquals(output.split("\n").map((line) => line.length), [24, 24, 0]);
});

Deno.test("swink sessions: sub-agents are not listed, continued or deleted apart from their parent", async () => {
  await using home = await createHome();
  const directory = `${home.path}/.local/state/swink/sessions`;
  const store = new FileSessionStore({ directory, now: () => FAKE_TIME });
  const metadata = { subAgentParentId: "old", subAgentCallId: "call", subAgentPath: ["call"] };
  const child = await store.create({ id: "child", cwd: Deno.cwd(), metadata });
  child.append({ type: "title", title: "Part of the poem" });
  await child.close();
  assertEquals(await listIds(home), ["new-2", "new-1", "old"]);
  assertEquals(await findLastSession(store, Deno.cwd()), "new-1");
  assertStringIncludes((await run(home, ["show", "child"])).output, "Part of the poem");
  const { code } = await run(home, ["delete", "--older-than", "30", "--yes"]);
  assertEquals([code, (await store.list()).map(({ id }) => id)], [0, ["new-2", "new-1"]]);
});

Deno.test("swink sessions list: reports that there is none", async () => {
  await using home = await createTemporaryDirectory();
  assertEquals(await run(home, ["list"]), {
    code: 0,
    output: "",
    messages: "No session of this directory; --all lists all\n",
  });
  assertEquals(await run(home, ["list", "-ojson"]), { code: 0, output: "[]\n", messages: "" });
});

Deno.test("swink sessions show: prints Markdown without control characters", async () => {
  await using home = await createHome();
  const { code, output } = await run(home, ["show", "new-1"]);
  assertEquals(code, 0);
  assertStringIncludes(output, "Fix the parser");
  // deno-lint-ignore no-control-regex -- control characters must be absent
  assert(!/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(output));
});

Deno.test("swink sessions show --html: writes a page", async () => {
  await using home = await createHome();
  const file = `${home.path}/page.html`;
  assertEquals(await run(home, ["show", "old", "--html", file]), {
    code: 0,
    output: "",
    messages: "",
  });
  assertStringIncludes(home.read("page.html"), "Write a poem");
  const printed = await run(home, ["show", "old", "--html", "-"]);
  assertEquals([printed.code, printed.output], [0, home.read("page.html")]);
  const { code, messages } = await run(home, ["show", "old", "--html", `${home.path}/no/x.html`]);
  assertEquals(code, 3);
  assertStringIncludes(messages, "swink: HOME/no/x.html cannot be written: ");
});

Deno.test("swink sessions search: finds words", async () => {
  await using home = await createHome();
  assertMatch((await run(home, ["search", "pars"])).output, /^new-1 {2}2 h {2}Fix the.* parser\n$/);
  const here = await run(home, ["search", "other", "work"]);
  assertEquals([here.code, here.output], [0, ""]);
  assertEquals(
    here.messages,
    "No session has these words in this directory; --all searches all\n",
  );
  const nowhere = await run(home, ["search", "--all", "absent"]);
  assertEquals(nowhere.messages, "No session has these words\n");
  const { output } = await run(home, ["search", "--all", "other", "work"]);
  assertEquals(output, "new-2  1 min  Other work\n");
});

Deno.test("swink sessions export, import: copy a session", async () => {
  await using home = await createHome();
  const { output } = await run(home, ["export", "new-1"]);
  // deno-lint-ignore no-control-regex -- control characters must be absent
  assert(!/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(output));
  const imported = await run(home, ["import", "-", "--session-id", "copy"], { input: output });
  assertEquals([imported.code, imported.output, imported.messages], [0, "copy\n", ""]);
  const copy = await run(home, ["export", "copy"]);
  assertEquals(copy.output.split("\n").slice(1), output.split("\n").slice(1));
  const again = await run(home, ["import", "-", "--session-id", "copy"], { input: output });
  assertEquals(again.code, 3);
  assertMatch((await run(home, ["import", "-"], { input: "x" })).messages, /^swink: /);
  assertEquals((await run(home, ["import", `${home.path}/none`])).code, 2);
});

Deno.test("swink sessions delete: asks, and deletes what was named", async () => {
  await using home = await createHome();
  const terminals = ["input", "output", "messages"] as const;
  const env = { HOME: home.path, NO_COLOR: "1", TERM: "dumb" };
  const refused = await run(home, ["delete", "old"], { terminals, answers: ["n\n"], env });
  assertEquals(refused.code, 1);
  assertStringIncludes(refused.messages, "Write a poem");
  assertEquals(await listIds(home), ["new-2", "new-1", "old"]);
  const { code, messages } = await run(home, ["delete", "old", "new-1"], {
    terminals,
    answers: ["y\n"],
    env,
  });
  assertEquals([code, messages.endsWith("2 sessions deleted\n")], [0, true]);
  assertEquals(await listIds(home), ["new-2"]);
});

Deno.test("swink sessions delete: deletes a session that is named twice", async () => {
  await using home = await createHome();
  const { code, messages } = await run(home, ["delete", "old", "ol", "new-1", "--yes"]);
  assertEquals([code, messages], [0, "2 sessions deleted\n"]);
  assertEquals(await listIds(home), ["new-2"]);
});

Deno.test("swink sessions delete: deletes the other sessions when one is open elsewhere", async () => {
  await using home = await createHome();
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  await using _open = await store.open("new-1");
  const { code, messages } = await run(home, ["delete", "old", "new-1", "new-2", "--yes"]);
  assertEquals(code, 3);
  assertMatch(
    messages,
    /^2 sessions deleted\nswink: The session "new-1" is open in .*: close it there\n$/,
  );
  assertEquals(await listIds(home), ["new-1"]);
  const again = await run(home, ["delete", "new-1", "--yes"]);
  assertEquals(again.code, 3);
  assertMatch(again.messages, /^swink: The session "new-1" is open in /);
});

Deno.test("swink sessions list: counts the sessions whose first line is damaged, whose directory is not known", async () => {
  await using home = await createHome();
  const directory = `${home.path}/.local/state/swink/sessions`;
  const log = await Deno.readTextFile(`${directory}/new-1.jsonl`);
  await Deno.writeTextFile(`${directory}/new-1.jsonl`, log.replace('{"type":"session"', "x"));
  const notice = "the directory of 1 session is not known: swink sessions list --all\n";
  const { output, messages } = await run(home, ["list"]);
  assertEquals([output.includes("new-1"), messages], [false, notice]);
  assertStringIncludes((await run(home, ["list", "--all"])).output, "new-1");
  await Deno.writeTextFile(`${directory}/broken.jsonl`, "no session\n");
  assertEquals(
    (await run(home, ["list"])).messages,
    `1 session cannot be opened, and ${notice}`,
  );
});

Deno.test("swink sessions: an empty id is no prefix of the only session", async () => {
  await using home = await createHome();
  assertEquals((await run(home, ["delete", "old", "new-1", "--yes"])).code, 0);
  for (const command of [["show", ""], ["delete", "", "--yes"], ["export", ""]]) {
    const { code, messages } = await run(home, command);
    assertEquals([code, messages.split("\n")[0]], [2, "swink: The id of the session is empty"]);
  }
  assertEquals(await listIds(home), ["new-2"]);
});

Deno.test("swink sessions delete: without a terminal it requires --yes", async () => {
  await using home = await createHome();
  assertEquals(await run(home, ["delete", "old"]), {
    code: 2,
    output: "",
    messages: "swink: The deletion needs a confirmation\nAdd --yes to delete without a question.\n",
  });
  assertEquals((await run(home, ["delete"])).code, 2);
  assertEquals((await run(home, ["delete", "old", "--older-than", "5"])).code, 2);
  assertEquals((await run(home, ["delete", "none", "--yes"])).code, 2);
  const { messages } = await run(home, ["delete", "--older-than", "50", "-y"]);
  assertEquals([messages, await listIds(home)], ["1 session deleted\n", ["new-2", "new-1"]]);
  assertEquals(
    (await run(home, ["delete", "--older-than", "50", "-y"])).messages,
    "No session is that old\n",
  );
});

Deno.test("swink sessions delete: it keeps a session that cannot be opened by age, and deletes it by id", async () => {
  await using home = await createHome();
  const directory = `${home.path}/.local/state/swink/sessions`;
  const later = `${directory}/later.jsonl`;
  await Deno.writeTextFile(later, '{"type":"session","version":99,"id":"later","created":1}\n');
  await Deno.utime(later, 1, 1);
  const byAge = await run(home, ["delete", "--older-than", "50", "--yes"]);
  assertEquals([byAge.code, byAge.messages], [0, "1 session deleted\n"]);
  assertEquals((await Deno.stat(later)).isFile, true);
  const byId = await run(home, ["delete", "later", "--yes"]);
  assertEquals([byId.code, byId.messages], [0, "1 session deleted\n"]);
  await assertRejects(() => Deno.stat(later), Deno.errors.NotFound);
});

Deno.test("formatAge(): shows the largest unit", () => {
  assertEquals([-5, 59_999, 60_000, HOUR_MS, 47 * HOUR_MS, 48 * HOUR_MS].map(formatAge), [
    "now",
    "now",
    "1 min",
    "1 h",
    "47 h",
    "2 d",
  ]);
});
