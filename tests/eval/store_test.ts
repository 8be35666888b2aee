import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { Agent, BadRequestError } from "../../mod.ts";
import {
  compareResults,
  createEvalRun,
  type EvalFiles,
  type EvalSet,
  listEvalRuns,
  localEvalFiles,
  readEvalRun,
  resumeEvalRun,
  runEvalSet,
  type Score,
  verifyEvalRun,
} from "../../src/eval/mod.ts";
import { formatResultLine } from "../../src/eval/store/result_lines.ts";
import { fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";

function createSet(count = 3): EvalSet {
  return {
    id: "set",
    cases: Array.from({ length: count }, (_, index) => ({
      id: `case_${index + 1}`,
      userMessages: ["Go"],
      expectedResponse: { type: "contains", text: "Hello" },
    })),
  };
}

const makeAgent = (answer = "Hello") => () =>
  new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("read", { path: "a" })]), reply(answer)]),
    tools: [fakeTool({ name: "read", result: "content \ud800 ✓" })],
  });

async function useDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "swink_store_" });
  try {
    await use(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Runs a set, and writes its results to a directory. */
async function evaluate(
  directory: string,
  { set = createSet(), answer = "Hello", startedAt = 1 } = {},
) {
  let time = startedAt;
  const writer = await createEvalRun(directory, { set, model: "test/model", now: () => time++ });
  const { results } = await runEvalSet(set, makeAgent(answer), {
    parallel: 2,
    onResult: (result) => writer.append(result),
  });
  return { run: await writer.finish(), results };
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

Deno.test("eval run: results are read as they were written, in the order of the cases", async () => {
  await useDirectory(async (directory) => {
    const { run, results } = await evaluate(`${directory}/a`);
    const read = await readEvalRun(`${directory}/a`);
    assertEquals(read.results, asJson(results));
    assertEquals(asJson(read), asJson(run));
    const { id, setId, model, planned, startedAt, finishedAt, damage } = read;
    assertEquals([id, setId, model, planned, startedAt, finishedAt, damage], [
      "a",
      "set",
      "test/model",
      3,
      1,
      2,
      [],
    ]);
    assertEquals(await verifyEvalRun(`${directory}/a`), { isValid: true, problems: [] });
  });
});

Deno.test("eval run: only the owner may read its files", async () => {
  await useDirectory(async (directory) => {
    await evaluate(`${directory}/a`);
    for (const name of ["run.json", "results.jsonl", "audit.json"]) {
      const { mode } = await Deno.stat(`${directory}/a/${name}`);
      assertEquals((mode ?? 0) & 0o777, 0o600, name);
    }
  });
});

Deno.test("eval run: a directory can be renamed, but not used twice", async () => {
  await useDirectory(async (directory) => {
    await evaluate(`${directory}/a`);
    await assertRejects(
      () => createEvalRun(`${directory}/a`, { set: createSet() }),
      BadRequestError,
      "has an evaluation already",
    );
    await Deno.rename(`${directory}/a`, `${directory}/b`);
    assertEquals((await readEvalRun(`${directory}/b`)).id, "b");
    assertEquals((await verifyEvalRun(`${directory}/b`)).isValid, true);
  });
});

Deno.test("eval run: of several processes that start one in a directory, one starts it", async () => {
  await useDirectory(async (directory) => {
    const create = () => createEvalRun(`${directory}/a`, { set: createSet() });
    const created = await Promise.allSettled(Array.from({ length: 20 }, create));
    assertEquals(created.filter(({ status }) => status === "fulfilled").length, 1);
    for (const outcome of created) {
      if (outcome.status === "fulfilled") outcome.value[Symbol.dispose]();
      else assert(outcome.reason instanceof BadRequestError);
    }
  });
});

Deno.test("eval run: its results can be longer than any text, and are read without their calls", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    const set = createSet();
    // The complete file is never read at once.
    const files: EvalFiles = {
      ...localEvalFiles,
      read: (name) =>
        name.endsWith(".jsonl")
          ? Promise.reject(new RangeError("Invalid string length"))
          : localEvalFiles.read(name),
    };
    const writer = await createEvalRun(path, { set, files });
    await runEvalSet(set, makeAgent(), { onResult: (result) => writer.append(result) });
    assertEquals((await writer.finish()).results[0]?.trajectory?.calls.length, 1);
    const [short] = (await writer.finish({ omitCalls: true })).results;
    assertEquals([short?.trajectory?.calls, short?.trajectory?.response], [[], ""]);
    assertEquals(short?.outcome, "passed");
    assertEquals((await verifyEvalRun(path, { files })).isValid, true);
    using resumed = await resumeEvalRun(path, { set, files, omitCalls: true });
    assertEquals(resumed.finished.map(({ trajectory }) => trajectory?.calls), [[], [], []]);
    assertEquals((await listEvalRuns(directory, { files, omitCalls: true })).length, 1);
  });
});

Deno.test("eval run: one that was finished by an earlier version is verified again after it was finished again", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    const set = createSet();
    await evaluate(path, { set });
    const audit = JSON.parse(await Deno.readTextFile(`${path}/audit.json`));
    await Deno.writeTextFile(`${path}/audit.json`, JSON.stringify({ ...audit, version: 1 }));
    const { problems } = await verifyEvalRun(path);
    assertEquals(problems, [`"${path}/audit.json" is missing, damaged or of another version`]);
    await (await resumeEvalRun(path, { set })).finish();
    assertEquals((await verifyEvalRun(path)).isValid, true);
  });
});

Deno.test("eval run: an interrupted evaluation is resumed with the runs that are missing", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    const set = createSet();
    const first = await createEvalRun(path, { set });
    const controller = new AbortController();
    await runEvalSet(set, makeAgent(), {
      signal: controller.signal,
      onResult: async (result) => {
        await first.append(result);
        controller.abort();
      },
    });
    const interrupted = await first.finish();
    assertEquals([interrupted.results.length, interrupted.finishedAt], [1, undefined]);
    assertStringIncludes((await verifyEvalRun(path)).problems.join(), "2 of 3 results are missing");

    const writer = await resumeEvalRun(path, { set });
    const started: string[] = [];
    await runEvalSet(set, (request) => {
      started.push(request.evalCase.id);
      return makeAgent()();
    }, { finished: writer.finished, onResult: (result) => writer.append(result) });
    const resumed = await writer.finish();
    assertEquals(started, ["case_2", "case_3"]);
    assertEquals(resumed.results.map(({ outcome }) => outcome), Array(3).fill("passed"));
    assertEquals((await verifyEvalRun(path)).isValid, true);
  });
});

Deno.test("eval run: only one process at a time writes an evaluation", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    const set = createSet();
    const { run } = await evaluate(`${directory}/b`, { set });
    const [result] = run.results;
    assert(result);
    const resume = () => resumeEvalRun(path, { set });
    const writer = await createEvalRun(path, { set });
    await assertRejects(resume, BadRequestError, "is being written by another process");
    await Deno.writeTextFile(`${path}/results.jsonl`, "{", { append: true });
    await assertRejects(resume, BadRequestError, "is being written by another process");
    // The line that the other process is writing was not removed as damaged.
    assertEquals(await Deno.readTextFile(`${path}/results.jsonl`), "{");
    writer[Symbol.dispose]();
    await assertRejects(() => writer.append(result), BadRequestError, "was ended: resume it");

    const resumed = await Promise.allSettled(Array.from({ length: 20 }, resume));
    const [first, ...others] = resumed.flatMap((outcome) =>
      outcome.status === "fulfilled" ? [outcome.value] : []
    );
    assertEquals(others, []);
    await first?.append(result);
    await first?.finish();
    using last = await resume();
    assertEquals(last.finished.length, 1);
  });
});

Deno.test("eval run: a failed start or resumption leaves no lock", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    const set = createSet();
    await evaluate(path, { set });
    const broken: EvalFiles = {
      ...localEvalFiles,
      readLines: () => {
        throw new Error("The disk is gone");
      },
    };
    await assertRejects(() => resumeEvalRun(path, { set, files: broken }), Error, "is gone");
    assertEquals((await Array.fromAsync(Deno.readDir(path))).length, 3);
    using _resumed = await resumeEvalRun(path, { set });
  });
});

Deno.test("eval run: is not resumed with another set", async () => {
  await useDirectory(async (directory) => {
    await evaluate(`${directory}/a`);
    await assertRejects(
      () => resumeEvalRun(`${directory}/a`, { set: createSet(2) }),
      BadRequestError,
      "has changed: start another evaluation",
    );
  });
});

Deno.test("eval run: a cut and a damaged line are reported, kept and made again", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    const set = createSet();
    await evaluate(path, { set });
    const file = `${path}/results.jsonl`;
    const [first = "", second = "", third = ""] = (await Deno.readTextFile(file)).split("\n");
    const damaged = `${second.replace("passed", "failed")}\n${third.slice(0, 40)}`;
    await Deno.writeTextFile(file, `${first}\n${damaged}`);

    const read = await readEvalRun(path);
    assertEquals(read.results.length, 1);
    assertEquals(read.damage, [
      `${file}:2: the result is damaged`,
      `${file}: the last line is incomplete`,
    ]);
    assertEquals((await verifyEvalRun(path)).isValid, false);

    const writer = await resumeEvalRun(path, { set });
    assertEquals(writer.finished.length, 1);
    assertEquals(await Deno.readTextFile(`${path}/results.damaged.jsonl`), `${damaged}\n`);
    assertEquals(await Deno.readTextFile(file), `${first}\n`);
    await runEvalSet(set, makeAgent(), {
      finished: writer.finished,
      onResult: (result) => writer.append(result),
    });
    await writer.finish();
    const repaired = await readEvalRun(path);
    assertEquals([repaired.results.length, repaired.damage], [3, []]);
    assertEquals(await verifyEvalRun(path), { isValid: true, problems: [] });
  });
});

Deno.test("eval run: resuming changed results without new ones does not make them valid", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    const set = createSet();
    await evaluate(path, { set, answer: "Bye" });
    const file = `${path}/results.jsonl`;
    const lines = (await Deno.readTextFile(file)).trim().split("\n");
    const forged = await Promise.all(lines.map(async (line) => {
      const { result } = JSON.parse(line);
      const scores = result.scores.map((score: Score) => ({ ...score, passed: true }));
      return await formatResultLine({ ...result, scores, outcome: "passed" });
    }));
    await Deno.writeTextFile(file, forged.join(""));
    const writer = await resumeEvalRun(path, { set });
    assertEquals(writer.finished.length, 3);
    await writer.finish();
    assertEquals((await verifyEvalRun(path)).isValid, false);
  });
});

Deno.test("eval run: results without a header do not count for another evaluation", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    for (const name of ["results.jsonl", "audit.json"]) {
      await evaluate(path);
      for (const { name: file } of Deno.readDirSync(path)) {
        if (file !== name) await Deno.remove(`${path}/${file}`);
      }
      const create = () => createEvalRun(path, { set: createSet() });
      await assertRejects(create, BadRequestError, `has an evaluation already (${name})`);
      await Deno.remove(path, { recursive: true });
    }
  });
});

Deno.test("eval run: a result that reports cannot show is damaged, also with its hash", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    await evaluate(path);
    const file = `${path}/results.jsonl`;
    const [line = ""] = (await Deno.readTextFile(file)).split("\n");
    const { result } = JSON.parse(line);
    const { trajectory } = result;
    const [call] = trajectory.calls;
    const [answer] = trajectory.replies;
    const html = '"><script>alert(1)</script>';
    for (
      const changed of [
        { ...result, scores: [null] },
        { ...result, trajectory: { ...trajectory, calls: [null] } },
        { ...result, trajectory: { ...trajectory, calls: [{ ...call, outcome: html }] } },
        { ...result, trajectory: { ...trajectory, calls: [{ ...call, calls: [{}] }] } },
        { ...result, trajectory: { ...trajectory, calls: [{ ...call, durationMs: "1" }] } },
        { ...result, trajectory: { ...trajectory, replies: [{ ...answer, cost: "free" }] } },
        { ...result, trajectory: { ...trajectory, replies: [{ ...answer, text: null }] } },
        { ...result, repetition: html },
        { ...result, outcome: html },
      ]
    ) {
      await Deno.writeTextFile(file, await formatResultLine(changed));
      const run = await readEvalRun(path);
      assertEquals([run.results.length, run.damage.length], [0, 1], JSON.stringify(changed));
    }
    await Deno.writeTextFile(file, await formatResultLine(result));
    assertEquals((await readEvalRun(path)).results.length, 1);
    const header = JSON.parse(await Deno.readTextFile(`${path}/run.json`));
    for (const startedAt of [1e300, "1"]) {
      await Deno.writeTextFile(`${path}/run.json`, JSON.stringify({ ...header, startedAt }));
      await assertRejects(() => readEvalRun(path), BadRequestError, "is damaged");
    }
  });
});

Deno.test("eval run: one that cannot be read does not hide the others in a list", async () => {
  await useDirectory(async (directory) => {
    await evaluate(`${directory}/a`);
    await evaluate(`${directory}/b`);
    await Deno.remove(`${directory}/a/results.jsonl`);
    await Deno.mkdir(`${directory}/a/results.jsonl`);
    assertEquals((await listEvalRuns(directory)).map(({ id }) => id), ["b"]);
  });
});

Deno.test("eval run: a cut line is not joined with the next result", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    const set = createSet();
    await evaluate(path, { set });
    const file = `${path}/results.jsonl`;
    await Deno.writeTextFile(file, (await Deno.readTextFile(file)).slice(0, -20));
    const writer = await resumeEvalRun(path, { set });
    await runEvalSet(set, makeAgent(), {
      finished: writer.finished,
      onResult: (result) => writer.append(result),
    });
    await writer.finish();
    const { results, damage } = await readEvalRun(path);
    assertEquals([results.length, damage], [3, []]);
  });
});

Deno.test("eval run: any change of a byte is detected, and no changed result is read", async () => {
  await useDirectory(async (directory) => {
    const path = `${directory}/a`;
    await evaluate(path);
    const original = (await readEvalRun(path)).results.map((result) => JSON.stringify(result));
    for (const name of ["run.json", "results.jsonl", "audit.json"]) {
      const bytes = await Deno.readFile(`${path}/${name}`);
      const change = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }));
      await fc.assert(
        fc.asyncProperty(change, async ([index, difference]) => {
          const changed = bytes.slice();
          changed[index] = (changed[index] ?? 0) ^ difference;
          await Deno.writeFile(`${path}/${name}`, changed);
          const verification = await verifyEvalRun(path).catch((error) => {
            assert(error instanceof BadRequestError);
            return { isValid: false };
          });
          const isSame = hasEqualJson(name, bytes, changed);
          assertEquals(verification.isValid, isSame, `byte ${index} of ${name}`);
          const read = await readEvalRun(path).catch(() => ({ results: [] }));
          for (const result of read.results) assert(original.includes(JSON.stringify(result)));
        }),
        { numRuns: 60 },
      );
      await Deno.writeFile(`${path}/${name}`, bytes);
    }
    assertEquals((await verifyEvalRun(path)).isValid, true);
  });
});

/** Whether two files have the same JSON values, also if they differ in blanks. */
function hasEqualJson(name: string, ...files: readonly Uint8Array[]): boolean {
  try {
    const [first, second] = files.map((bytes) => {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      const documents = name.endsWith(".jsonl") ? text.split("\n").slice(0, -1) : [text];
      return JSON.stringify(documents.map((document) => JSON.parse(document)));
    });
    return first === second;
  } catch {
    return false;
  }
}

Deno.test("eval run: a directory without an evaluation is named in the error", async () => {
  await useDirectory(async (directory) => {
    await assertRejects(() => readEvalRun(directory), BadRequestError, "it has no run.json");
    const huge = JSON.stringify({
      version: 1,
      seed: 0,
      startedAt: 0,
      set: { id: "a", cases: [{ id: "a", userMessages: ["Go"], repetitions: 1e12 }] },
    });
    for (const text of ["{", "[]", '{"version":1}', '{"version":2}', huge]) {
      await Deno.writeTextFile(`${directory}/run.json`, text);
      await assertRejects(() => readEvalRun(directory), BadRequestError, "is damaged");
    }
  });
});

Deno.test("eval run: the evaluations of a directory are listed by their start [A158]", async () => {
  await useDirectory(async (directory) => {
    await evaluate(`${directory}/b`, { startedAt: 10 });
    await evaluate(`${directory}/a`, { startedAt: 20, answer: "Bye" });
    await Deno.mkdir(`${directory}/other`);
    const runs = await listEvalRuns(directory);
    assertEquals(runs.map(({ id }) => id), ["b", "a"]);
    const [before, after] = runs;
    if (!before || !after) throw new Error("There are two runs");
    const changes = compareResults(before, after).filter(({ change }) => change !== "same");
    assertEquals(changes.map(({ caseId, metric, change }) => `${caseId} ${metric} ${change}`), [
      "case_1 response regressed",
      "case_2 response regressed",
      "case_3 response regressed",
    ]);
    assertEquals(await listEvalRuns(`${directory}/none`), []);
  });
});
