import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { InMemorySessionStore, recordSession } from "../memory/mod.ts";
import { fakeTool, reply, toolCall } from "../testing/mod.ts";
import { seededRandom } from "../testing/seeded_random.ts";
import type { AuditChainOptions } from "./audit_chain.ts";
import type { AuditLink, AuditRecord, VerifyAuditLogOptions } from "./mod.ts";
import { auditChain, auditLog, recordAuditLinks, verifyAuditLog } from "./mod.ts";

const SEEDS = Deno.env.get("SWINK_PROVE") === "1" ? 3000 : 60;
const VALUES = ["a", 'quo"te', "\u{1F600}", "\ud800", 1, -0, 1e300, null, [1, { b: 2 }], {
  10: 1,
  2: 2,
}];

function createRecord(values: unknown = "a"): AuditRecord {
  return {
    type: "tool_call",
    runId: "run_1",
    turn: 1,
    model: "test/model",
    elapsedMs: 0,
    toolCallId: "call_1",
    tool: "work",
    arguments: JSON.parse(JSON.stringify({ values })),
  };
}

async function writeLog(count: number, last?: AuditLink): Promise<string[]> {
  const lines: string[] = [];
  const chain = auditChain({ write: (line) => void lines.push(line), last });
  for (let index = 0; index < count; index++) {
    await chain.write(createRecord(VALUES[index % VALUES.length]));
  }
  return lines;
}

async function getLast(lines: readonly string[]): Promise<AuditLink> {
  const result = await verifyAuditLog(lines);
  assert(result.type === "valid" && result.last);
  return result.last;
}

Deno.test("verifyAuditLog() accepts what a chain has written, also continued and with a last newline", async () => {
  const lines = await writeLog(12);
  const last = await getLast(lines);
  assertEquals(last.seq, 12);
  const continued = [...lines, ...await writeLog(3, last)];
  assertEquals((await getLast(continued)).seq, 15);
  assertEquals((await getLast([...lines, ""])).seq, 12);
  assertEquals(await verifyAuditLog([]), { type: "valid", last: undefined });
  async function* read(): AsyncGenerator<string> {
    yield* lines;
  }
  assertEquals((await verifyAuditLog(read())).type, "valid");
});

Deno.test("verifyAuditLog() finds the place of a change, a missing, doubled, exchanged and foreign line", async () => {
  const lines = await writeLog(5);
  const [first = "", second = "", third = "", fourth = "", fifth = ""] = lines;
  const [foreign = ""] = await writeLog(1, { seq: 1, hash: "0".repeat(64) });
  const cases: [readonly string[], number, string][] = [
    [[first, second.replace("work", "work2"), third], 2, "changed"],
    [[first, second.replace('"seq":2', '"seq": 2')], 2, "changed"],
    [[first, second.replace('"turn":1', '"turn":1,"turn":1')], 2, "changed"],
    [[first, second.replace(/"hash":"./, '"hash":"x')], 2, "not_a_record"],
    [[first, third], 2, "out_of_order"],
    [[second, third], 1, "out_of_order"],
    [[first, first], 2, "out_of_order"],
    [[first, third, second], 2, "out_of_order"],
    [[first, foreign], 2, "out_of_order"],
    [[first, "", second], 2, "not_a_record"],
    [[first, second.slice(0, -1)], 2, "not_a_record"],
    [[first, "null"], 2, "not_a_record"],
    [[first, "{}"], 2, "not_a_record"],
    [[first, second, third, fifth, fourth], 4, "out_of_order"],
  ];
  for (const [broken, line, problem] of cases) {
    assertEquals(await verifyAuditLog(broken), { type: "broken", line, problem } as never);
  }
});

Deno.test("verifyAuditLog() finds a cut end against an expected line, and accepts later lines", async () => {
  const lines = await writeLog(5);
  const expected = await getLast(lines.slice(0, 3));
  assertEquals((await verifyAuditLog(lines, { expected })).type, "valid");
  assertEquals((await verifyAuditLog(lines.slice(0, 3), { expected })).type, "valid");
  for (const count of [0, 1, 2]) {
    assertEquals((await verifyAuditLog(lines.slice(0, count), { expected })).type, "cut");
  }
  const other = { ...expected, hash: "0".repeat(64) };
  assertEquals((await verifyAuditLog(lines, { expected: other })).type, "cut");
});

Deno.test("verifyAuditLog(): every random change of a log is found", async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed);
    const pick = (max: number) => Math.floor(random() * max);
    const lines = await writeLog(2 + pick(8));
    const expected = await getLast(lines);
    const changed = [...lines];
    const at = pick(lines.length);
    const line = lines[at] ?? "";
    const position = pick(line.length);
    switch (pick(6)) {
      case 0:
        changed.splice(at, 1);
        break;
      case 1:
        changed.splice(at, 0, lines[pick(lines.length)] ?? "");
        break;
      case 2: {
        const other = (at + 1 + pick(lines.length - 1)) % lines.length;
        [changed[at], changed[other]] = [lines[other] ?? "", line];
        break;
      }
      case 3:
        changed[at] = line.slice(0, position) + line.slice(position + 1);
        break;
      case 4:
        changed[at] = line.slice(0, position) + String.fromCharCode(32 + pick(95)) +
          line.slice(position + 1);
        break;
      case 5:
        changed.length = at;
    }
    if (changed.join("\n") === lines.join("\n")) continue;
    const { type } = await verifyAuditLog(changed, { expected });
    assert(type !== "valid", `seed ${seed}:\n${changed.join("\n")}`);
  }
});

Deno.test("auditChain() writes concurrent records one after the other, in order", async () => {
  const lines: string[] = [];
  let active = 0;
  const chain = auditChain({
    write: async (line) => {
      assertEquals(++active, 1);
      await new Promise((resolve) => setTimeout(resolve));
      lines.push(line);
      active--;
    },
  });
  await Promise.all([1, 2, 3].map((value) => chain.write(createRecord(value))));
  assertEquals((await getLast(lines)).seq, 3);
  assertEquals(lines.map((line) => JSON.parse(line).record.arguments.values), [1, 2, 3]);
  assertEquals(chain.last, await getLast(lines));
});

Deno.test("auditChain() continues with the last line that was written after one that was not", async () => {
  const lines: string[] = [];
  let isFull = false;
  const chain = auditChain({
    write: (line) => {
      if (isFull) throw new Error("disk full");
      lines.push(line);
    },
  });
  await chain.write(createRecord(1));
  isFull = true;
  const failed = chain.write(createRecord(2));
  await assertRejects(() => failed, Error, "disk full");
  assertEquals(chain.last?.seq, 1);
  isFull = false;
  await chain.write(createRecord(3));
  assertEquals((await getLast(lines)).seq, 2);
});

Deno.test("auditChain() writes a record as it was when write() was called", async () => {
  const lines: string[] = [];
  const { write } = auditChain({ write: (line) => void lines.push(line) });
  const record = { ...createRecord(1) };
  const written = write(record);
  Object.assign(record, { runId: "run_2" });
  await written;
  assertEquals(JSON.parse(lines[0] ?? "").record, createRecord(1));
});

Deno.test("auditChain() refuses a record that is no JSON value, and stays valid", async () => {
  const lines: string[] = [];
  const { write } = auditChain({ write: (line) => void lines.push(line) });
  await assertRejects(() => write(undefined as never), BadRequestError, "must be a JSON value");
  await assertRejects(() => write({ ...createRecord(), turn: 1n } as never), TypeError);
  await write(createRecord());
  assertEquals((await getLast(lines)).seq, 1);
});

Deno.test("verifyAuditLog() accepts a record with the names of the chain in its arguments", async () => {
  const lines: string[] = [];
  const { write } = auditChain({ write: (line) => void lines.push(line) });
  const hash = "0".repeat(64);
  await write(createRecord({ seq: 7, previous: hash, hash }));
  await write(createRecord(`,"hash":"${hash}"}\n\u2028`));
  assertEquals((await getLast(lines)).seq, 2);
  const [first = "", second = ""] = lines;
  const doubled = second.replace(/,"hash":"[0-9a-f]{64}"\}$/, `,"hash":"${hash}"$&`);
  assertEquals((await verifyAuditLog([first, doubled])).type, "broken");
});

Deno.test("auditChain() and verifyAuditLog() refuse invalid options", async () => {
  const write = () => {};
  const invalid = [undefined, {}, { write: 1 }, { write, first: 1 }, { write, last: {} }, {
    write,
    last: { seq: 0, hash: "0".repeat(64) },
  }, { write, last: { seq: 1, hash: "0" } }];
  for (const options of invalid) {
    assertThrows(() => auditChain(options as AuditChainOptions), BadRequestError);
  }
  for (const options of [null, { expected: 1 }, { last: 1 }]) {
    await assertRejects(
      () => verifyAuditLog([], options as VerifyAuditLogOptions),
      BadRequestError,
    );
  }
});

Deno.test("recordAuditLinks() records the last line in the session, against which a cut end is found", async () => {
  const lines: string[] = [];
  const chain = auditChain({ write: (line) => void lines.push(line) });
  const { agent } = testAgent([reply([toolCall("work")]), reply("Done"), reply("Again")], {
    tools: [fakeTool({ name: "work" })],
    policies: [auditLog({ write: chain.write })],
  });
  await using recording = await recordSession(agent, new InMemorySessionStore());
  const { session } = recording;
  const stop = recordAuditLinks(agent, chain);
  await agent.prompt("Go");
  await session.flush();
  const entries = (await session.path({ types: ["custom"] })).flatMap((entry) =>
    entry.type === "custom" && entry.name === "audit_log" ? [entry.data as AuditLink] : []
  );
  // A tool call, two turns and the run.
  assertEquals(entries.map(({ seq }) => seq), [2, 3, 4]);
  const expected = entries.at(-1);
  assertEquals((await verifyAuditLog(lines, { expected })).type, "valid");
  assertEquals((await verifyAuditLog(lines.slice(0, -1), { expected })).type, "cut");
  stop();
  await agent.prompt("Again");
  assertEquals(chain.last?.seq, 6);
});

Deno.test("recordAuditLinks() records each line once, and none that was the last one before", async () => {
  const first = { seq: 1, hash: "a".repeat(64) };
  const second = { seq: 2, hash: "b".repeat(64) };
  const chain = { last: first };
  const { agent } = testAgent([reply("a"), reply("b"), reply("c")]);
  const recorded: unknown[] = [];
  agent.subscribe((event) => void (event.type === "custom" && recorded.push(event.data)));
  recordAuditLinks(agent, chain);
  await agent.prompt("No line is written");
  assertEquals(recorded, []);
  chain.last = second;
  await agent.prompt("A line was written");
  await agent.prompt("No line is written");
  assertEquals(recorded, [second]);
});
