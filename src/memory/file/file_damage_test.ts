import { assert, assertEquals, assertRejects } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { SessionError } from "../../core/errors/errors.ts";
import { userMessage } from "../../core/messages/message.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionEntry, SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { FileSessionStore } from "./file_store.ts";

interface Fixture {
  readonly store: FileSessionStore;
  readonly path: string;
  readonly directory: string;
}

/** Runs a test in a temporary directory. */
function testInDirectory(name: string, test: (fixture: Fixture) => Promise<void>): void {
  Deno.test(name, async () => {
    const directory = await Deno.makeTempDir();
    try {
      let id = 0;
      const newId = () => `e${++id}`;
      const store = new FileSessionStore({ directory, now: () => 1000, newId });
      await test({ store, path: `${directory}/s.jsonl`, directory });
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}

function createMessageEntry(text: string): SessionEntryBody {
  return { type: "message", message: userMessage(text, 1) };
}

async function writeSession(store: FileSessionStore, ...texts: string[]): Promise<void> {
  await using session = await store.create({ id: "s" });
  for (const text of texts) session.append(createMessageEntry(text));
}

async function readTexts(session: Session): Promise<string[]> {
  return (await session.path()).flatMap(getTexts);
}

function getTexts(entry: SessionEntry): string[] {
  if (entry.type !== "message" || entry.message.role === "custom") return [];
  return entry.message.content.flatMap((block) => block.type === "text" ? [block.text] : []);
}

/** Opens a session, reads it, appends to it, and reads it again with another store. */
async function expectUsable({ store, directory }: Fixture, ...texts: string[]): Promise<Session> {
  const session = await store.open("s");
  assertEquals(await readTexts(session), texts);
  session.append(createMessageEntry("more"));
  await session.close();
  const reopened = await new FileSessionStore({ directory }).open("s", { access: "read" });
  assertEquals(await readTexts(reopened), [...texts, "more"]);
  await reopened.close();
  return session;
}

async function readLogLines(path: string): Promise<string[]> {
  return (await Deno.readTextFile(path)).split("\n");
}

testInDirectory(
  "FileSessionStore: open() skips a torn last line, and the next entry starts a new line [B74]",
  async (fixture) => {
    await writeSession(fixture.store, "one", "two");
    const text = await Deno.readTextFile(fixture.path);
    await Deno.writeTextFile(fixture.path, text.slice(0, -20));
    const session = await expectUsable(fixture, "one");
    assertEquals(session.damage.map(({ type }) => type), ["torn_tail"]);
    // Written bytes never change.
    assert((await Deno.readTextFile(fixture.path)).startsWith(text.slice(0, -20) + "\n"));
  },
);

testInDirectory(
  "FileSessionStore: open() accepts a complete last line without a newline",
  async (fixture) => {
    await writeSession(fixture.store, "one", "two");
    await Deno.writeTextFile(fixture.path, (await Deno.readTextFile(fixture.path)).trimEnd());
    const session = await expectUsable(fixture, "one", "two");
    assertEquals(session.damage, []);
  },
);

testInDirectory(
  "FileSessionStore: open() skips a last line that was cut inside a character [A143]",
  async (fixture) => {
    await writeSession(fixture.store, "one", "émoji 😀");
    const bytes = await Deno.readFile(fixture.path);
    const cut = bytes.lastIndexOf(0xf0) + 2;
    await Deno.writeFile(fixture.path, bytes.slice(0, cut));
    const session = await expectUsable(fixture, "one");
    assertEquals(session.damage.map(({ type }) => type), ["torn_tail"]);
  },
);

testInDirectory(
  "FileSessionStore: open() skips only the line that has invalid UTF-8 [A143]",
  async (fixture) => {
    await writeSession(fixture.store, "one", "zwei", "three");
    const bytes = await Deno.readFile(fixture.path);
    const offset = new TextDecoder("latin1").decode(bytes).indexOf("zwei");
    bytes[offset] = 0xff;
    await Deno.writeFile(fixture.path, bytes);
    // The size is the same, and the clock of the file system may be too.
    await Deno.utime(fixture.path, 0, Date.now() / 1000 + 10);
    const session = await expectUsable(fixture, "one", "three");
    assertEquals(session.damage.map(({ type }) => type), ["broken_line", "lost_parent"]);
  },
);

testInDirectory(
  "FileSessionStore: open() skips a broken line, and its child becomes a child of the entry before [B75]",
  async (fixture) => {
    await writeSession(fixture.store, "one", "two", "three");
    const lines = await readLogLines(fixture.path);
    lines[2] = lines[2]?.slice(5) ?? "";
    await Deno.writeTextFile(fixture.path, lines.join("\n"));
    const session = await expectUsable(fixture, "one", "three");
    const [broken, lost] = session.damage;
    assertEquals(broken?.type, "broken_line");
    assertEquals(lost, {
      type: "lost_parent",
      offset: lost?.offset ?? 0,
      length: lost?.length ?? 0,
      entryId: "e3",
    });
  },
);

testInDirectory(
  "FileSessionStore: open() keeps an entry of an unknown type, and copies have its original text [B75]",
  async (fixture) => {
    await writeSession(fixture.store, "one");
    const record = { type: "hologram", id: "h1", parentId: "e1", timestamp: 5, depth: { z: 1 } };
    await Deno.writeTextFile(fixture.path, JSON.stringify(record) + "\n", { append: true });
    await expectUsable(fixture, "one");
    await using session = await fixture.store.open("s", { access: "read" });
    const entry = await session.entry("h1");
    assertEquals(entry, { type: "opaque", id: "h1", parentId: "e1", timestamp: 5, record });
    const entries = await session.path();
    await (await fixture.store.create({ id: "copy", entries })).close();
    assertEquals(
      (await readLogLines(`${fixture.directory}/copy.jsonl`))[2],
      JSON.stringify(record),
    );
  },
);

testInDirectory(
  "FileSessionStore: open() rejects a log of a newer version, and list() reports it as the problem [A145]",
  async ({ store, path }) => {
    const title = `{"type":"title","id":"e1","parentId":null,"timestamp":1,"title":"needle"}`;
    const header = `{"type":"session","version":99,"id":"s","created":1}`;
    await Deno.writeTextFile(path, `${header}\n${title}\n`);
    const error = await assertRejects(() => store.open("s"), SessionError, "update the program");
    assertEquals(error.reason, "newer_version");
    const [summary] = await store.list();
    assert(summary?.problem?.includes("version 99"));
    assertEquals(await store.search("needle"), []);
  },
);

testInDirectory(
  "FileSessionStore: open() rejects an empty file [A142]",
  async ({ store, path }) => {
    await Deno.writeTextFile(path, "");
    const error = await assertRejects(() => store.open("s"), SessionError);
    assertEquals(error.reason, "not_a_session");
    assertEquals((await store.list()).length, 1);
  },
);

testInDirectory(
  "FileSessionStore: open() opens a file of random bytes as an empty session [A143]",
  async (fixture) => {
    const random = seededRandom(7);
    const noise = Uint8Array.from({ length: 5000 }, () => random() * 256);
    await Deno.writeFile(fixture.path, noise);
    await expectUsable(fixture);
  },
);

testInDirectory(
  "FileSessionStore: open() rejects a file of another program, and list() reports it as the problem",
  async ({ store, path }) => {
    const files = [
      `{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00Z"}\n{"type":"message"}\n`,
      `{"role":"user","content":"Hi"}\n{"role":"assistant","content":"Hello"}\n`,
      "Notes about a project\n\nA second line\n",
      "Notes without a newline",
      `{\n  "messages": [\n    "Hi"\n  ]\n}\n`,
    ];
    for (const text of files) {
      await Deno.writeTextFile(path, text);
      const error = await assertRejects(() => store.open("s"), SessionError, "another program");
      assertEquals(error.reason, "not_a_session");
      assert((await store.list())[0]?.problem?.includes("another program wrote its file"));
      assertEquals(await Deno.readTextFile(path), text);
    }
  },
);

testInDirectory(
  "FileSessionStore: open() ignores a copy of an earlier line at the end",
  async (fixture) => {
    await writeSession(fixture.store, "one", "two", "three");
    const [header = "", first = ""] = await readLogLines(fixture.path);
    for (const line of [first, header]) {
      await Deno.writeTextFile(fixture.path, `${line}\n`, { append: true });
    }
    const session = await expectUsable(fixture, "one", "two", "three");
    assertEquals(session.damage.map(({ type, entryId }) => [type, entryId]), [
      ["duplicate_id", "e1"],
      ["broken_entry", undefined],
    ]);
    const [summary] = await fixture.store.list();
    assertEquals([summary?.entries, summary?.messages], [4, 4]);
  },
);

testInDirectory(
  "FileSessionStore: list() and search() report or skip a symbolic link to itself and a directory",
  async ({ store, directory }) => {
    await writeSession(store, "needle");
    await Deno.symlink(`${directory}/loop.jsonl`, `${directory}/loop.jsonl`);
    await Deno.mkdir(`${directory}/nested.jsonl`);
    const listed = (await store.list()).map((
      { id, problem },
    ) => [id, problem?.split(": ")[1]?.split(" (")[0]]);
    assertEquals(Object.fromEntries(listed), {
      s: undefined,
      loop: "it is a symbolic link that leads to itself",
      nested: "it is a directory",
    });
    assertEquals((await store.search("needle")).map(({ sessionId }) => sessionId), ["s"]);
    for (const id of ["loop", "nested"]) {
      const error = await assertRejects(() => store.open(id), SessionError);
      assertEquals(error.reason, "read_failed");
      await assertRejects(() => store.search("needle", { sessionId: id }), SessionError);
    }
  },
);

testInDirectory(
  "FileSessionStore: delete() removes the temporary files of killed processes, and no file of another session",
  async ({ store, directory }) => {
    await writeSession(store, "one");
    const others = ["s.jsonl.7.tmp.jsonl", "s2.jsonl.7.tmp", "s.txt", "s.lock.takeover.jsonl"];
    const temporary = ["s.jsonl.7.tmp", "s.index.123.tmp", "s.lock.takeover", "s.lock.99"];
    for (const name of [...others, ...temporary]) {
      await Deno.writeTextFile(`${directory}/${name}`, "");
    }
    await store.delete("s");
    const names = Array.from(Deno.readDirSync(directory), ({ name }) => name);
    assertEquals(names.toSorted(), others.toSorted());
  },
);

testInDirectory(
  "FileSessionStore: open() adds a default header with the next entry when the header is missing",
  async (fixture) => {
    await writeSession(fixture.store, "one");
    await Deno.writeTextFile(fixture.path, (await readLogLines(fixture.path)).slice(1).join("\n"));
    const session = await expectUsable(fixture, "one");
    assertEquals(session.damage.map(({ type }) => type), ["broken_header"]);
    assertEquals(session.header, { type: "session", version: 1, id: "s", created: 1000 });
    assertEquals(JSON.parse((await readLogLines(fixture.path))[1] ?? ""), { ...session.header });
  },
);

testInDirectory("FileSessionStore: open() replaces a torn header", async (fixture) => {
  await Deno.writeTextFile(fixture.path, `{"type":"sess`);
  await expectUsable(fixture);
});

testInDirectory(
  "FileSessionStore: open() assigns a new id to an entry with a duplicate id",
  async (fixture) => {
    await writeSession(fixture.store, "one");
    const [, line = ""] = await readLogLines(fixture.path);
    await Deno.writeTextFile(
      fixture.path,
      line.replace(`null`, `"e1"`).replace("one", "two") + "\n",
      {
        append: true,
      },
    );
    const session = await expectUsable(fixture, "one", "two");
    assertEquals(session.damage.map(({ type, entryId }) => [type, entryId]), [[
      "duplicate_id",
      "e1~2",
    ]]);
  },
);

testInDirectory("FileSessionStore: open() skips records that are not entries", async (fixture) => {
  await writeSession(fixture.store, "one");
  const records = [
    `null`,
    `[]`,
    `{}`,
    `{"type":"message","id":"x","parentId":null,"timestamp":1}`,
    `{"type":"message","id":"x","parentId":null,"timestamp":1,"message":{"role":"user","timestamp":1}}`,
    `{"type":"message","id":"x","parentId":null,"timestamp":1,"message":{"role":"user","timestamp":1,"content":[{"type":"text"}]}}`,
    `{"type":"message","id":"x","parentId":null,"timestamp":1,"message":{"role":"user","timestamp":1,"content":[null]}}`,
    `{"type":"title","id":"x","parentId":3,"timestamp":1,"title":"t"}`,
    `{"type":"title","id":"","parentId":null,"timestamp":1,"title":"t"}`,
    `{"type":"title","id":"x","parentId":null,"timestamp":"1","title":"t"}`,
    `{"type":"constructor","id":"","parentId":null,"timestamp":1}`,
    `{"type":"session","version":1,"id":"other","created":5}`,
  ];
  await Deno.writeTextFile(fixture.path, records.join("\n") + "\n", { append: true });
  const session = await expectUsable(fixture, "one");
  assertEquals(session.damage.map(({ type }) => type), records.map(() => "broken_entry"));
});

testInDirectory(
  "FileSessionStore: open() accepts blank lines and Windows line endings",
  async (fixture) => {
    await writeSession(fixture.store, "one", "two");
    const text = (await Deno.readTextFile(fixture.path)).replaceAll("\n", "\r\n\r\n");
    await Deno.writeTextFile(fixture.path, text);
    const session = await expectUsable(fixture, "one", "two");
    assertEquals(session.damage, []);
  },
);

testInDirectory(
  "FileSessionStore: open() upgrades a log of version 0, a list of messages, and keeps the old file",
  async (fixture) => {
    const messages = [userMessage("one", 7), userMessage("two", 8)];
    const old = messages.map((message) => JSON.stringify(message)).join("\n") + "\nnoise\n";
    await Deno.writeTextFile(fixture.path, old);
    assertEquals((await fixture.store.list())[0]?.firstPrompt, "one");
    await using reader = await fixture.store.open("s", { access: "read" });
    assertEquals(await readTexts(reader), ["one", "two"]);
    assertEquals(await Deno.readTextFile(fixture.path), old);
    await expectUsable(fixture, "one", "two");
    assertEquals(await Deno.readTextFile(`${fixture.path}.v0`), old);
    const [header = "", first = ""] = await readLogLines(fixture.path);
    assertEquals(JSON.parse(header), { type: "session", version: 1, id: "s", created: 7 });
    assertEquals(JSON.parse(first), {
      type: "message",
      id: "m1",
      parentId: null,
      timestamp: 7,
      message: messages[0],
    });
    await fixture.store.delete("s");
    assertEquals(Array.from(Deno.readDirSync(fixture.directory)), []);
  },
);

testInDirectory(
  "FileSessionStore: open() reads the complete entries of a log that is cut at any byte [A144]",
  async (fixture) => {
    await writeSession(fixture.store, "one", "zwei ü", "three 😀");
    const bytes = await Deno.readFile(fixture.path);
    const ends = [...bytes.keys()].filter((offset) => bytes[offset] === 10);
    const step = Deno.env.get("SWINK_PROVE") === "1" ? 1 : 5;
    for (let cut = 1; cut <= bytes.length; cut += step) {
      await Deno.writeFile(fixture.path, bytes.slice(0, cut));
      // A line is complete with its last brace; the newline may be missing.
      const complete = ends.slice(1).filter((end) => cut >= end).length;
      const texts = ["one", "zwei ü", "three 😀"].slice(0, complete);
      const store = new FileSessionStore({ directory: fixture.directory });
      await expectUsable({ ...fixture, store }, ...texts);
    }
  },
);

testInDirectory(
  "FileSessionStore: path() reports an entry that was garbled after it was indexed, whatever the index says",
  async ({ store, path }) => {
    await writeSession(store, "one", "two", "three");
    const { mtime } = await Deno.stat(path);
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.replace('"two"', '"t"o"'));
    await Deno.utime(path, mtime ?? 0, mtime ?? 0);

    await using session = await store.open("s", { access: "read" });
    assertEquals(await readTexts(session), ["one", "three"]);
    assertEquals(await readTexts(session), ["one", "three"]);
    const [header = "", one = "", two = ""] = text.split("\n");
    const offset = header.length + one.length + 2;
    assertEquals(session.damage, [
      { type: "broken_entry", offset, length: two.length, entryId: "e2" },
    ]);
  },
);

testInDirectory(
  "FileSessionStore: path() returns no entry twice when lines were joined after they were indexed",
  async ({ store, path, directory }) => {
    await writeSession(store, "one", "two", "three");
    const { mtime } = await Deno.stat(path);
    const text = await Deno.readTextFile(path);
    const end = text.indexOf("\n", text.indexOf("one"));
    await Deno.writeTextFile(path, text.slice(0, end) + " " + text.slice(end + 1));
    await Deno.utime(path, mtime ?? 0, mtime ?? 0);
    await using writer = await store.open("s");
    writer.append({ type: "custom", name: "after", data: null });
    await writer.close();

    const reopened = new FileSessionStore({ directory });
    await using session = await reopened.open("s", { access: "read" });
    assertEquals((await session.path()).map(({ id }) => id), ["e3", "e4"]);
    assertEquals(session.damage.map(({ entryId }) => entryId), ["e1", "e2"]);
  },
);

testInDirectory(
  "FileSessionStore: open() reads the log again when a line was added before the last one that is indexed",
  async ({ store, path, directory }) => {
    await writeSession(store, "one", "two", "six"); // At the same time, in lines of the same length.
    const lines = await readLogLines(path);
    const added = (lines[2] ?? "").replace('"e2"', '"e9"').replace('"two"', '"new"');
    await Deno.writeTextFile(path, lines.toSpliced(2, 0, added).join("\n"));

    await using session = await new FileSessionStore({ directory }).open("s", { access: "read" });
    const entries = [];
    for await (const entry of session.entries()) entries.push(entry);
    assertEquals(entries.map(({ id }) => id), ["e1", "e9", "e2", "e3"]);
    assertEquals(entries.flatMap(getTexts), ["one", "new", "two", "six"]);
  },
);

testInDirectory(
  "FileSessionStore: a reply keeps its text if its amounts are not numbers",
  async ({ store, path }) => {
    await writeSession(store, "one");
    const header = (await readLogLines(path))[0];
    const reply = {
      type: "message",
      id: "e1",
      parentId: null,
      timestamp: 1,
      message: {
        role: "assistant",
        content: [{ type: "text", text: "answer" }],
        provider: "p",
        modelId: "m",
        usage: { input: 3, output: "2", total: 3 },
        cost: { input: null, output: null, cacheRead: 0, cacheWrite: 0, total: "NaN" },
        stopReason: "stop",
        timestamp: 1,
      },
    };
    await Deno.writeTextFile(path, `${header}\n${JSON.stringify(reply)}\n`);

    await using session = await store.open("s", { access: "read" });
    const [entry] = await session.path();
    assert(entry?.type === "message" && entry.message.role === "assistant");
    assertEquals(entry.message.content, reply.message.content as never);
    const { usage } = entry.message;
    assertEquals(usage, { input: 3, output: 0, cacheRead: 0, cacheWrite: 0, total: 3 });
    assertEquals(entry.message.cost, { ...reply.message.cost, total: null });
    assertEquals(session.damage, []);
  },
);

testInDirectory(
  "FileSessionStore: path() takes constant time for each entry that became unreadable",
  async ({ store, path }) => {
    const entry = (number: number) =>
      `{"type":"title","id":"t${number}","parentId":${
        number === 0 ? null : `"t${number - 1}"`
      },"timestamp":1,"title":"t"}`;
    const lines = Array.from({ length: 40_000 }, (_, number) => entry(number));
    const header = `{"type":"session","version":1,"id":"s","created":1}`;
    await Deno.writeTextFile(path, [header, ...lines, ""].join("\n"));
    await store.list();
    const { mtime } = await Deno.stat(path);
    const garbled = lines.slice(0, -1).map((line) => "#".repeat(line.length));
    await Deno.writeTextFile(path, [header, ...garbled, lines.at(-1), ""].join("\n"));
    if (mtime) await Deno.utime(path, mtime, mtime);
    const session = await store.open("s", { access: "read" });
    const getThreadTime = startThreadTimer();
    assertEquals((await session.path()).length, 1);
    // Comparing each with all that were reported takes ten seconds and more.
    assert(getThreadTime() < 5_000);
    assertEquals(session.damage.length, 39_999);
    await session.close();
  },
);
