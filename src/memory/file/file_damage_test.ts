import { assert, assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../core/errors.ts";
import { userMessage } from "../../core/message.ts";
import type { Session } from "../../core/session.ts";
import type { SessionEntry, SessionEntryBody } from "../../core/session_entry.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { FileSessionStore } from "./file_store.ts";

interface Fixture {
  readonly store: FileSessionStore;
  readonly path: string;
  readonly directory: string;
}

/** Runs a test in a folder of its own. */
function testInDirectory(name: string, test: (bench: Fixture) => Promise<void>): void {
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

/** Opens, looks, appends, and looks again after a restart. */
async function expectUsable({ store, directory }: Fixture, ...texts: string[]): Promise<Session> {
  const session = await store.open("s");
  assertEquals(await readTexts(session), texts);
  session.append(createMessageEntry("more"));
  await session.close();
  const again = await new FileSessionStore({ directory }).open("s", { access: "read" });
  assertEquals(await readTexts(again), [...texts, "more"]);
  await again.close();
  return session;
}

async function readLogLines(path: string): Promise<string[]> {
  return (await Deno.readTextFile(path)).split("\n");
}

testInDirectory(
  "B 74: a torn last line is passed over, and the next entry begins a line",
  async (bench) => {
    await writeSession(bench.store, "one", "two");
    const text = await Deno.readTextFile(bench.path);
    await Deno.writeTextFile(bench.path, text.slice(0, -20));
    const session = await expectUsable(bench, "one");
    assertEquals(session.damage.map(({ type }) => type), ["torn_tail"]);
    // Nothing that was written is ever changed.
    assert((await Deno.readTextFile(bench.path)).startsWith(text.slice(0, -20) + "\n"));
  },
);

testInDirectory("a last line that is whole but has no end counts", async (bench) => {
  await writeSession(bench.store, "one", "two");
  await Deno.writeTextFile(bench.path, (await Deno.readTextFile(bench.path)).trimEnd());
  const session = await expectUsable(bench, "one", "two");
  assertEquals(session.damage, []);
});

testInDirectory("A 143: a tail cut inside a character is passed over", async (bench) => {
  await writeSession(bench.store, "one", "émoji 😀");
  const bytes = await Deno.readFile(bench.path);
  const cut = bytes.lastIndexOf(0xf0) + 2;
  await Deno.writeFile(bench.path, bytes.slice(0, cut));
  const session = await expectUsable(bench, "one");
  assertEquals(session.damage.map(({ type }) => type), ["torn_tail"]);
});

testInDirectory("A 143: invalid UTF-8 in a line spoils that line only", async (bench) => {
  await writeSession(bench.store, "one", "zwei", "three");
  const bytes = await Deno.readFile(bench.path);
  const at = new TextDecoder("latin1").decode(bytes).indexOf("zwei");
  bytes[at] = 0xff;
  await Deno.writeFile(bench.path, bytes);
  const session = await expectUsable(bench, "one", "three");
  assertEquals(session.damage.map(({ type }) => type), ["broken_line", "lost_parent"]);
});

testInDirectory(
  "B 75: a broken line in the middle is passed over, its child hangs on the one before",
  async (bench) => {
    await writeSession(bench.store, "one", "two", "three");
    const all = await readLogLines(bench.path);
    all[2] = all[2]?.slice(5) ?? "";
    await Deno.writeTextFile(bench.path, all.join("\n"));
    const session = await expectUsable(bench, "one", "three");
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
  "B 75: an entry of an unknown kind keeps its place, and its text when it is copied",
  async (bench) => {
    await writeSession(bench.store, "one");
    const record = { type: "hologram", id: "h1", parentId: "e1", timestamp: 5, depth: { z: 1 } };
    await Deno.writeTextFile(bench.path, JSON.stringify(record) + "\n", { append: true });
    await expectUsable(bench, "one");
    await using session = await bench.store.open("s", { access: "read" });
    const entry = await session.entry("h1");
    assertEquals(entry, { type: "opaque", id: "h1", parentId: "e1", timestamp: 5, record });
    const entries = await session.path();
    await (await bench.store.create({ id: "copy", entries })).close();
    assertEquals((await readLogLines(`${bench.directory}/copy.jsonl`))[2], JSON.stringify(record));
  },
);

testInDirectory(
  "A 145: a newer version is refused with a word on what to do, and listed with it",
  async ({ store, path }) => {
    await Deno.writeTextFile(path, `{"type":"session","version":99,"id":"s","created":1}\n`);
    const error = await assertRejects(() => store.open("s"), SessionError, "update the program");
    assertEquals(error.reason, "newer_version");
    const [summary] = await store.list();
    assert(summary?.problem?.includes("version 99"));
  },
);

testInDirectory("A 142: an empty file is no session", async ({ store, path }) => {
  await Deno.writeTextFile(path, "");
  const error = await assertRejects(() => store.open("s"), SessionError);
  assertEquals(error.reason, "not_a_session");
  assertEquals((await store.list()).length, 1);
});

testInDirectory("A 143: a file of nothing but noise opens empty and can be used", async (bench) => {
  const random = seededRandom(7);
  const noise = Uint8Array.from({ length: 5000 }, () => random() * 256);
  await Deno.writeFile(bench.path, noise);
  await expectUsable(bench);
});

testInDirectory("a missing header is made up, and written with the next entry", async (bench) => {
  await writeSession(bench.store, "one");
  await Deno.writeTextFile(bench.path, (await readLogLines(bench.path)).slice(1).join("\n"));
  const session = await expectUsable(bench, "one");
  assertEquals(session.damage.map(({ type }) => type), ["broken_header"]);
  assertEquals(session.header, { type: "session", version: 1, id: "s", created: 1000 });
  assertEquals(JSON.parse((await readLogLines(bench.path))[1] ?? ""), { ...session.header });
});

testInDirectory("a torn header is made up", async (bench) => {
  await Deno.writeTextFile(bench.path, `{"type":"sess`);
  await expectUsable(bench);
});

testInDirectory("an id that is taken is given another", async (bench) => {
  await writeSession(bench.store, "one");
  const [, line = ""] = await readLogLines(bench.path);
  await Deno.writeTextFile(bench.path, line.replace(`null`, `"e1"`).replace("one", "two") + "\n", {
    append: true,
  });
  const session = await expectUsable(bench, "one", "two");
  assertEquals(session.damage.map(({ type, entryId }) => [type, entryId]), [[
    "duplicate_id",
    "e1~2",
  ]]);
});

testInDirectory("records that are no entries are passed over", async (bench) => {
  await writeSession(bench.store, "one");
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
  await Deno.writeTextFile(bench.path, records.join("\n") + "\n", { append: true });
  const session = await expectUsable(bench, "one");
  assertEquals(session.damage.map(({ type }) => type), records.map(() => "broken_entry"));
});

testInDirectory("blank lines and Windows line ends do no harm", async (bench) => {
  await writeSession(bench.store, "one", "two");
  const text = (await Deno.readTextFile(bench.path)).replaceAll("\n", "\r\n\r\n");
  await Deno.writeTextFile(bench.path, text);
  const session = await expectUsable(bench, "one", "two");
  assertEquals(session.damage, []);
});

testInDirectory(
  "a bare list of messages is upgraded when it is opened, and the old file kept",
  async (bench) => {
    const messages = [userMessage("one", 7), userMessage("two", 8)];
    const old = messages.map((message) => JSON.stringify(message)).join("\n") + "\nnoise\n";
    await Deno.writeTextFile(bench.path, old);
    assertEquals((await bench.store.list())[0]?.firstPrompt, "one");
    await using reader = await bench.store.open("s", { access: "read" });
    assertEquals(await readTexts(reader), ["one", "two"]);
    assertEquals(await Deno.readTextFile(bench.path), old);
    await expectUsable(bench, "one", "two");
    assertEquals(await Deno.readTextFile(`${bench.path}.v0`), old);
    const [header = "", first = ""] = await readLogLines(bench.path);
    assertEquals(JSON.parse(header), { type: "session", version: 1, id: "s", created: 7 });
    assertEquals(JSON.parse(first), {
      type: "message",
      id: "m1",
      parentId: null,
      timestamp: 7,
      message: messages[0],
    });
    await bench.store.delete("s");
    assertEquals(Array.from(Deno.readDirSync(bench.directory)), []);
  },
);

testInDirectory(
  "a log that is cut at any byte opens with what is whole, and goes on",
  async (bench) => {
    await writeSession(bench.store, "one", "zwei ü", "three 😀");
    const bytes = await Deno.readFile(bench.path);
    const ends = [...bytes.keys()].filter((at) => bytes[at] === 10);
    const step = Deno.env.get("SWINK_PROVE") ? 1 : 5;
    for (let cut = 1; cut <= bytes.length; cut += step) {
      await Deno.writeFile(bench.path, bytes.slice(0, cut));
      // A line is whole with its last brace; its end may be missing.
      const whole = ends.slice(1).filter((end) => cut >= end).length;
      const texts = ["one", "zwei ü", "three 😀"].slice(0, whole);
      const store = new FileSessionStore({ directory: bench.directory });
      await expectUsable({ ...bench, store }, ...texts);
    }
  },
);
