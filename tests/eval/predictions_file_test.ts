import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError } from "../../mod.ts";
import {
  type EvalFiles,
  formatPrediction,
  localEvalFiles,
  type PatchPrediction,
  PredictionsFile,
} from "../../src/eval/mod.ts";

const create = (id: string, patch = "", model = "m"): PatchPrediction => ({
  instance_id: id,
  model_name_or_path: model,
  model_patch: patch,
});

async function useFile(
  text: string | undefined,
  use: (path: string, read: () => string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "swink_predictions_" });
  const path = `${directory}/predictions.jsonl`;
  try {
    if (text !== undefined) await Deno.writeTextFile(path, text);
    await use(path, () => Deno.readTextFileSync(path));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const format = (...predictions: readonly PatchPrediction[]) =>
  predictions.map(formatPrediction).join("");

Deno.test("PredictionsFile: has one prediction of each task, the last one", async () => {
  await useFile(undefined, async (path, read) => {
    const first = new PredictionsFile(path, { modelName: "m" });
    await Promise.all(["a", "b", "c"].map((id) => first.write(create(id))));
    assertEquals(read(), format(create("a"), create("b"), create("c")));
    const second = new PredictionsFile(path, { modelName: "m" });
    await Promise.all([second.write(create("b", "2")), second.write(create("d"))]);
    assertEquals(read(), format(create("a"), create("c"), create("b", "2"), create("d")));
    await second.write(create("d", "3"));
    assertEquals(read(), format(create("a"), create("c"), create("b", "2"), create("d", "3")));
    await second.write(create("d", "4"), { replaces: false });
    await second.write(create("e", "5"), { replaces: false });
    const last = [create("d", "3"), create("e", "5")];
    assertEquals(read(), format(create("a"), create("c"), create("b", "2"), ...last));
  });
});

Deno.test("PredictionsFile: several processes write to one file, and none loses what another writes", async () => {
  await useFile(undefined, async (path, read) => {
    // Each one has a lock of its own, as in a process of its own.
    const writers = [1, 2, 3].map(() => new PredictionsFile(path, { modelName: "m" }));
    await Promise.all(writers.map((writer) => writer.open()));
    await Promise.all(writers.flatMap((writer, index) => [
      writer.write(create("shared", `${index}`)),
      writer.write(create(`task_${index}`)),
    ]));
    const ids = read().trim().split("\n").map((line) => JSON.parse(line).instance_id).sort();
    assertEquals(ids, ["shared", "task_0", "task_1", "task_2"]);
  });
});

Deno.test("PredictionsFile: a line that a killed process left incomplete is not joined with the next one", async () => {
  const complete = format(create("a"));
  for (const length of [1, 10, complete.length - 2]) {
    await useFile(complete + complete.slice(0, length), async (path, read) => {
      await new PredictionsFile(path, { modelName: "m" }).write(create("b"));
      assertEquals(read(), format(create("a"), create("b")));
    });
  }
  // Only the line end is missing.
  await useFile(complete.trimEnd(), async (path, read) => {
    await new PredictionsFile(path, { modelName: "m" }).write(create("b"));
    assertEquals(read(), format(create("a"), create("b")));
  });
});

Deno.test("PredictionsFile: a prediction that could be written only in part is not joined with the next one", async () => {
  await useFile(undefined, async (path, read) => {
    let isFull = false;
    const files: EvalFiles = {
      ...localEvalFiles,
      append: async (name, text) => {
        await localEvalFiles.append(name, isFull ? text.slice(0, 20) : text);
        if (isFull) throw new Error("No space left on device");
      },
    };
    const predictions = new PredictionsFile(path, { modelName: "m", files });
    await predictions.write(create("a"));
    isFull = true;
    await assertRejects(() => predictions.write(create("b")), Error, "No space left");
    isFull = false;
    await predictions.write(create("c"));
    assertEquals(read(), format(create("a"), create("c")));
  });
});

Deno.test("PredictionsFile: lines that are no predictions, and those of another model, are errors and kept", async () => {
  const other = format(create("a", "", "other"));
  for (
    const [text, message] of [
      ["{}\n", "predictions.jsonl:1: the line is no prediction"],
      ["notes", "predictions.jsonl:1: the line is no prediction"],
      [`[${format(create("a")).trimEnd()}]`, "predictions.jsonl:1:"],
      [`{"a":${format(create("a")).trimEnd()}}`, "predictions.jsonl:1:"],
      [`${format(create("a"))}notes\n${format(create("b"))}`, "predictions.jsonl:2:"],
      [other, 'has predictions of "other": name another file for those of "m"'],
    ] as const
  ) {
    await useFile(text, async (path, read) => {
      const predictions = new PredictionsFile(path, { modelName: "m" });
      await assertRejects(() => predictions.open(), BadRequestError, message);
      await assertRejects(() => predictions.write(create("c")), BadRequestError, message);
      assertEquals(read(), text);
    });
  }
});
