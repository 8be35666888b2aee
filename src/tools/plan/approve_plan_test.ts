import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { approvePlan, isApproved, type PlanDecision, type PlanReview } from "./approve_plan.ts";
import { planFile } from "./plan_file.ts";
import { hashPlan } from "./plan_hash.ts";

const TEXT = "# Faster start\r\n\r\nSlow.\r\n\r\n## 1. [done] Measure\r\n## 2. Load late \r\n";

const approve = ({ hash }: PlanReview): PlanDecision => ({ type: "approved", hash });

async function createFile(text = TEXT) {
  const directory = await createTemporaryDirectory({ "plan.md": text });
  return Object.assign(directory, { file: planFile(`${directory.path}/plan.md`) });
}

Deno.test("approvePlan(): a person sees the complete text, and approves its hash", async () => {
  await using directory = await createFile();
  const { file } = directory;
  const reviews: PlanReview[] = [];
  const approval = await approvePlan(file, {
    ask: (review) => (reviews.push(review), approve(review)),
  });
  assert(approval.type === "approved");
  const { plan: { steps }, ...review } = approval.plan;
  assertEquals(review, { path: file.path, text: TEXT, hash: await hashPlan(TEXT) });
  assertEquals(steps.map(({ title, state }) => [title, state]), [
    ["Measure", "complete"],
    ["Load late", "pending"],
  ]);
  assertEquals([reviews.length, isApproved(approval.plan)], [1, true]);
  assertEquals(isApproved({ ...approval.plan }), false);
});

Deno.test("approvePlan(): without a person the answer is no, with the reason", async () => {
  await using directory = await createFile();
  assertEquals(await approvePlan(directory.file), {
    type: "refused",
    reason: "A person must approve the plan, and no person can be asked in this run",
  });
});

const ANSWERS: readonly (readonly [string, (review: PlanReview) => unknown, string])[] = [
  ["a refusal with a reason", () => ({ type: "refused", reason: "Too long" }), "Too long"],
  [
    "a refusal without a reason",
    () => ({ type: "refused" }),
    "The plan was refused without a reason",
  ],
  ["true", () => true, "The answer was neither"],
  ["nothing", () => undefined, "The answer was neither"],
  ["an approval without a hash", () => ({ type: "approved" }), "The answer was neither"],
  [
    "an approval of another hash",
    () => ({ type: "approved", hash: "00" }),
    "must be reviewed again",
  ],
  ["an exception", () => {
    throw new Error("no terminal");
  }, "The approval failed: no terminal"],
];

for (const [name, answer, reason] of ANSWERS) {
  Deno.test(`approvePlan(): ${name} approves nothing`, async () => {
    await using directory = await createFile();
    const approval = await approvePlan(directory.file, {
      ask: async (review) => await answer(review) as PlanDecision,
    });
    assert(approval.type === "refused");
    assertStringIncludes(approval.reason, reason);
  });
}

Deno.test("approvePlan(): refuses a text that changes during the review, also in one blank or in a state", async () => {
  for (
    const edit of [`${TEXT}\n`, TEXT.replace("late ", "late"), TEXT.replace("[done] ", ""), ""]
  ) {
    await using directory = await createFile();
    const approval = await approvePlan(directory.file, {
      ask: (review) => (directory.write("plan.md", edit), approve(review)),
    });
    assert(approval.type === "refused");
    assertStringIncludes(approval.reason, "The plan was edited after the review");
  }
});

Deno.test("approvePlan(): does not ask about a file that is no plan, and names line and correction", async () => {
  await using directory = await createFile("# T\n\n## 1.\n\n## 2. a\n");
  const { file } = directory;
  const ask = () => {
    throw new Error("was asked");
  };
  assertEquals(await approvePlan(file, { ask }), {
    type: "refused",
    reason: `${JSON.stringify(file.path)} is no plan:\n` +
      "line 3: the step has no text in its heading: write ## 1. First step",
  });
  await Deno.remove(file.path);
  assertEquals(await approvePlan(file, { ask }), {
    type: "refused",
    reason: `There is no plan at ${JSON.stringify(file.path)}`,
  });
  Deno.symlinkSync("/etc/hostname", file.path);
  const refused = await approvePlan(file, { ask });
  assertStringIncludes(JSON.stringify(refused), "is a symbolic link");
});

Deno.test("approvePlan(): the text and the hash of an approved plan cannot be changed", async () => {
  await using directory = await createFile();
  const approval = await approvePlan(directory.file, { ask: approve });
  assert(approval.type === "approved");
  const plan = approval.plan as { text: string; hash: string };
  for (const name of ["text", "hash"] as const) {
    assertThrows(() => plan[name] = "other", TypeError);
  }
});

Deno.test("approvePlan(): an abort during the review rejects", async () => {
  await using directory = await createFile();
  const controller = new AbortController();
  const ask = (review: PlanReview) => (controller.abort(new Error("stop")), approve(review));
  await assertRejects(
    () => approvePlan(directory.file, { ask, signal: controller.signal }),
    Error,
    "stop",
  );
});

Deno.test("hashPlan(): is that of the text without states", async () => {
  const hash = await hashPlan("# T\n## 1. a\n");
  for (const mark of ["[x]  ", "[in progress] ", "[open] "]) {
    assertEquals(await hashPlan(`# T\n## 1. ${mark}a\n`), hash);
  }
  for (const text of ["# T\n## 1. a", "# T\n## 1. b\n", "# T\n## 2. a\n", "# T\r\n## 1. a\r\n"]) {
    assert(await hashPlan(text) !== hash, text);
  }
});
