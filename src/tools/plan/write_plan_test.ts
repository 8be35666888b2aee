import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { extractText } from "../../core/messages/content.ts";
import { toToolResult } from "../../core/messages/to_tool_result.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { planFile } from "./plan_file.ts";
import { writePlanTool } from "./write_plan.ts";

const step = (title: string) => ({ title, description: "", files: [], criteria: ["It works."] });
const PLAN = { title: "Faster start", context: "Slow.", steps: [step("Measure"), step("Load")] };

async function createWriter(text?: string) {
  const directory = await createTemporaryDirectory(text === undefined ? {} : { "plan.md": text });
  const file = planFile(`${directory.path}/plan.md`);
  const written: string[] = [];
  const tool = writePlanTool(file, { onWrite: (text) => void written.push(text) });
  const write = async (plan: JsonObject) => {
    const { content, isError } = toToolResult(await tool.execute(plan, testToolContext()));
    return `${isError ? "error: " : ""}${extractText(content)}`;
  };
  return Object.assign(directory, { file, tool, write, written });
}

Deno.test("write_plan: writes a plan, and replaces the one that it has written", async () => {
  await using plans = await createWriter();
  assertEquals(
    await plans.write(PLAN),
    "The plan with 2 steps is written. A person reviews it next.",
  );
  const first = plans.read("plan.md");
  assertEquals(
    await plans.write({ ...PLAN, steps: [step("Load")] }),
    "The plan with 1 step is written. A person reviews it next.",
  );
  assertEquals(plans.written, [first, plans.read("plan.md")]);
  assertEquals(plans.read("plan.md").match(/^#+ .*/gm), [
    "# Faster start",
    "## 1. Load",
    "### Acceptance criteria",
  ]);
});

Deno.test("write_plan: shows edits that the planner has not seen, and keeps sections that a person has added", async () => {
  await using plans = await createWriter();
  await plans.write(PLAN);
  const edited = plans.read("plan.md")
    .replace("## 1. Measure", "## Risks\n\nNone.\n\n## 1. Measure twice");
  plans.written.length = 0;
  Deno.writeTextFileSync(plans.file.path, edited);
  const refused = await plans.write(PLAN);
  assertStringIncludes(refused, "error: The plan was not written, because its file has changed");
  assertStringIncludes(refused, "## 1. Measure twice");
  assertEquals([plans.read("plan.md"), plans.written], [edited, []]);
  await plans.write({ ...PLAN, steps: [step("Measure twice")] });
  assertEquals(plans.read("plan.md").match(/^## .*/gm), ["## Risks", "## 1. Measure twice"]);
});

Deno.test("write_plan: steps keep the state of the step with their title", async () => {
  await using plans = await createWriter();
  await plans.write(PLAN);
  const text = plans.read("plan.md").replace("## 1. ", "## 1. [done] ");
  Deno.writeTextFileSync(plans.file.path, text);
  await plans.write({ ...PLAN, steps: [step("Prepare"), ...PLAN.steps] });
  assertEquals(plans.read("plan.md").match(/^## .*/gm), [
    "## 1. Prepare",
    "## 2. [done] Measure",
    "## 3. Load",
  ]);
});

Deno.test("write_plan: of several steps with one title, each keeps its own state, and a further one is open", async () => {
  await using plans = await createWriter();
  const steps = ["Read", "Test", "Write", "Test"].map((title) => step(title));
  await plans.write({ ...PLAN, steps });
  const text = plans.read("plan.md").replace("## 1. ", "## 1. [done] ")
    .replace("## 2. ", "## 2. [done] ");
  Deno.writeTextFileSync(plans.file.path, text);
  await plans.write({ ...PLAN, steps: [...steps, step("Test")] });
  assertEquals(plans.read("plan.md").match(/^## .*/gm), [
    "## 1. [done] Read",
    "## 2. [done] Test",
    "## 3. Write",
    "## 4. Test",
    "## 5. Test",
  ]);
});

Deno.test("write_plan: the steps of another plan, and of one after a plan that is done, are open", async () => {
  for (
    const [marks, title] of [
      [["## 1. [done] Measure", "## 2. Load"], "Smaller pages"],
      [["## 1. [done] Measure", "## 2. [done] Load"], PLAN.title],
    ] as const
  ) {
    await using plans = await createWriter();
    await plans.write(PLAN);
    const text = plans.read("plan.md").replace("## 1. Measure", marks[0])
      .replace("## 2. Load", marks[1]);
    Deno.writeTextFileSync(plans.file.path, text);
    await plans.write({ ...PLAN, title });
    assertEquals(plans.read("plan.md").match(/^## .*/gm), ["## 1. Measure", "## 2. Load"]);
  }
});

Deno.test("write_plan: neither replaces content that it cannot keep nor something other than a file", async () => {
  await using plans = await createWriter("# Mine\n```\nnever closed\n");
  assertStringIncludes(
    await plans.write(PLAN),
    "A person must correct it:\nline 2: the code block is never closed: add a line ```",
  );
  await Deno.remove(plans.file.path);
  Deno.symlinkSync("/etc/hostname", plans.file.path);
  const refused = await plans.write(PLAN);
  assertStringIncludes(refused, "error: The plan was not written:");
  assertStringIncludes(refused, "is a symbolic link, not a regular file: remove it");
  assert(Deno.lstatSync(plans.file.path).isSymlink);
});

Deno.test("write_plan: takes no path, and texts of the model become neither steps nor states", async () => {
  await using plans = await createWriter();
  const { parameters } = plans.tool;
  assertEquals(Object.keys(parameters["properties"] as object), ["title", "context", "steps"]);
  await plans.write({
    title: "T\n## 1. x",
    context: "## 2. y\n```\n",
    steps: [{
      ...step("[done] z\n## 3. a"),
      description: "# b\n<!--",
      criteria: ["## 4. c\u202e"],
    }],
  });
  assertEquals(
    plans.read("plan.md"),
    "# T ## 1. x\n\n### 2. y\n```\n```\n\n## 1. z ## 3. a\n\n#### b\n<!--\n-->\n\n### Acceptance criteria\n\n- ## 4. c\n",
  );
});

Deno.test("write_plan: what has no title after that is refused, and nothing is written", async () => {
  await using plans = await createWriter();
  const refused = await plans.write({ ...PLAN, steps: [step("[done] #")] });
  assertStringIncludes(refused, "error: The plan was not written:\nline 5: the step has no text");
  assertEquals(await plans.file.read(), { type: "missing" });
});
