import { assertEquals, assertRejects } from "@std/assert";
import {
  type CaseResult,
  createEvalRun,
  type EvalFiles,
  localEvalFiles,
  readEvalRun,
} from "../../src/eval/mod.ts";

const COUNT = 8;

const SET = {
  id: "set",
  cases: Array.from({ length: COUNT }, (_, index) => ({
    id: `case_${index}`,
    userMessages: ["Greet me"],
  })),
};

Deno.test("EvalRunWriter: writes the results of cases that end together at once, in order", async () => {
  const writes: string[] = [];
  await useWriter(writes, async ({ append, path }) => {
    await Promise.all(SET.cases.map(({ id }) => append(id)));
    assertEquals(writes.map((text) => text.split("\n").length - 1), [COUNT]);
    const lines = (await Deno.readTextFile(`${path}/results.jsonl`)).trim().split("\n");
    assertEquals(
      lines.map((line) => JSON.parse(line).result.caseId),
      SET.cases.map(({ id }) => id),
    );
  });
});

Deno.test("EvalRunWriter: a result without JSON and a write that fails do not affect other results", async () => {
  const writes: string[] = [];
  await useWriter(writes, async ({ append, path, failNext }) => {
    const invalid = append("case_0", 1n);
    const valid = append("case_1");
    await assertRejects(() => invalid, TypeError, "BigInt");
    await valid;
    failNext();
    await Promise.all(
      ["case_2", "case_3"].map((id) => assertRejects(() => append(id), Error, "full")),
    );
    await append("case_4");
    const { results } = await readEvalRun(path);
    assertEquals(results.map(({ caseId }) => caseId), ["case_1", "case_4"]);
  });
});

interface TestWriter {
  readonly path: string;
  append(caseId: string, value?: number | bigint): Promise<void>;
  /** Lets the next write fail. */
  failNext(): void;
}

async function useWriter(
  writes: string[],
  use: (writer: TestWriter) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/run`;
  let isFull = false;
  const files: EvalFiles = {
    ...localEvalFiles,
    append: async (name, text) => {
      if (isFull) {
        isFull = false;
        throw new Error("The disk is full");
      }
      writes.push(text);
      await localEvalFiles.append(name, text);
    },
  };
  try {
    using writer = await createEvalRun(path, { set: SET, files });
    await use({
      path,
      append: (caseId, value = 1) => writer.append(createResult(caseId, value)),
      failNext: () => {
        isFull = true;
      },
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Creates the result of a run that passed, with the value of a score. */
function createResult(caseId: string, value: number | bigint): CaseResult {
  return {
    caseId,
    repetition: 1,
    seed: 0,
    outcome: "passed",
    scores: [{ metric: "custom", value: value as number, passed: true }],
    trajectory: undefined,
    durationMs: 1,
  };
}
