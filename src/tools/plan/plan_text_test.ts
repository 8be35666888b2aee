import { assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { PLAN_STEP_STATES } from "../../core/sessions/plan_entry.ts";
import { formatPlan, normalizePlan, numberSteps, replacePlan } from "./format_plan.ts";
import { findUnreadable, formatProblems, parsePlan } from "./parse_plan.ts";
import type { Plan } from "./plan.ts";
import { getText, splitPlan } from "./plan_blocks.ts";
import { clearStates, setStates } from "./step_state.ts";

const PLAN: Plan = {
  title: "Faster start",
  context: "The parser is slow.\n\n- measured: 80 ms",
  steps: [
    {
      title: "Measure",
      state: "complete",
      description: "Add a benchmark:\n\n```sh\n# not a heading\n## 9. not a step\n```",
      files: ["bench/start.ts"],
      criteria: ["The benchmark prints the time."],
    },
    {
      title: "Load the parser on first use",
      state: "pending",
      description: "",
      files: [],
      criteria: [],
    },
  ],
};

const TEXT = `# Faster start

The parser is slow.

- measured: 80 ms

## 1. [done] Measure

Add a benchmark:

\`\`\`sh
# not a heading
## 9. not a step
\`\`\`

### Files

- \`bench/start.ts\`

### Acceptance criteria

- The benchmark prints the time.

## 2. Load the parser on first use
`;

function parse(text: string): Plan {
  const parsed = parsePlan(text);
  if (parsed.type === "plan") return parsed.plan;
  throw new Error(formatProblems(parsed.problems));
}

function listProblems(text: string): string {
  const parsed = parsePlan(text);
  return parsed.type === "plan" ? "" : formatProblems(parsed.problems);
}

Deno.test("formatPlan() writes Markdown that parsePlan() reads", () => {
  assertEquals(formatPlan(PLAN), TEXT);
  assertEquals(parse(TEXT), PLAN);
});

Deno.test("parsePlan() reads other numbers, bullets, check lists, paragraphs, wrapped items and CRLF, as a person writes them", () => {
  const text = [
    "---\nauthor: ada\n---\n",
    "# Title #\n",
    "## Step 3: [In Progress] First ##",
    "### Acceptance Criteria:\n\n* [ ] one\n   continued\n* [x] two\n\nA paragraph\nof two lines",
    "### files",
    "1. a.ts\n2. `b.ts` (new)\n<!-- not c.ts -->",
    "### Risks\n\nNone.",
    "## Notes\n\nA section of mine.\n",
    "## 1) Second\nText.",
  ].join("\n").replaceAll("\n", "\r\n");
  assertEquals(parse(text), {
    title: "Title",
    context: "",
    steps: [
      {
        title: "First",
        state: "in_progress",
        description: "### Risks\n\nNone.",
        files: ["a.ts", "`b.ts` (new)"],
        criteria: ["one continued", "two", "A paragraph of two lines"],
      },
      { title: "Second", state: "pending", description: "Text.", files: [], criteria: [] },
    ],
  });
});

Deno.test("parsePlan() reads a heading without the marks at its end, however many groups there are", () => {
  assertEquals(
    listProblems("# T\n## 1. # #\n"),
    "line 2: the step has no text in its heading: write ## 1. First step",
  );
  const titles = parse("# T # #\n## 1. a # ##\n## 2. F#\n## 3. #b #\n").steps.map(({ title }) =>
    title
  );
  assertEquals(titles, ["a", "F#", "#b"]);
});

Deno.test("parsePlan() reads emoji and scripts that need joiners and selectors", () => {
  const title = "👩‍👧 ❤️ 1️⃣ क्‍ष می‌خواهم";
  assertEquals(parse(`# T\n## 1. ${title}\n`).steps[0]?.title, title);
});

Deno.test("parsePlan() reads no steps from code blocks and comments", () => {
  const text = "# T\n\n~~~~\n## 1. a\n~~~\n~~~~ \n\n<!--\n## 2. b\n-->\n## 3. c\n<!-- d -->\n";
  assertEquals(parse(text).steps.map(({ title }) => title), ["c"]);
});

Deno.test("parsePlan() reports each problem with its line", () => {
  const problems: readonly (readonly [string, string])[] = [
    ["", "line 1: the plan has no title: add a heading such as # Title"],
    ["Just text\n", "line 1: the plan has no title"],
    ["# T\n", "line 1: the plan has no steps: add a heading such as ## 1. First step"],
    ["# T\n\n## Notes\n", "line 1: the plan has no steps"],
    [
      "# T\n\n## 1. a\n\n## 2.\n",
      "line 5: the step has no text in its heading: write ## 1. First step",
    ],
    ["#\n## 1. a\n", "line 1: the title has no text in its heading: write # Title"],
    ["# T\n## 1. a\n```\ncode\n", "line 3: the code block is never closed: add a line ```"],
    ["# T\n## 1. a\n\n<!-- x\n", "line 4: the comment is never closed: add a line -->"],
    ["# T\n## 1. a\n\u202etxt\n", "line 3: the character U+202E is not visible: remove it"],
    ["# T\n## 1. a\n\u001b[2J\n", "line 3: the character U+001B is not visible: remove it"],
    ["# T\n## 1. a\u200bb\n", "line 2: the character U+200B is not visible: remove it"],
    ["# T\n## 1. a\ufe01\n", "line 2: the character U+FE01 is not visible: remove it"],
    ["# T\n## 1. \u3164\n", "line 2: the character U+3164 is not visible: remove it"],
    ["# T\n## 1. a\u2028b\n", "line 2: the character U+2028 is not visible: remove it"],
    ["# T\n## 1. a\rb\n", "line 2: the character U+000D is not visible: remove it"],
    ["# T\n## 1. \u{e0041}\n", "line 2: the character U+E0041 is not visible: remove it"],
    [`# T\n## 1. ${"a".repeat(301)}\n`, "line 2: the heading of the step is longer than 300"],
    [`# T\n${"## 1. a\n".repeat(501)}`, "line 502: the plan has more than 500 steps: join steps"],
    [
      `# T\n## 1. a\n${"x".repeat(256 * 1024)}`,
      "line 1: the plan is larger than 262144 bytes: shorten it",
    ],
  ];
  for (const [text, message] of problems) assertStringIncludes(listProblems(text), message);
});

Deno.test("replacePlan() keeps the sections and the preamble that a person has added", () => {
  const text =
    "<!-- mine -->\n\n# Old\n\nold\n\n## Before\n\nx\n\n## 1. a\n\nold\n\n## Between\ny\n" +
    "\n## 2. b\n\n## 3. c\n\n# After\n\n```\n## 4. code\n```";
  const plan = { ...PLAN, context: "new" };
  const replaced = replacePlan(text, plan);
  assertEquals(parse(replaced), { ...plan, context: "new" });
  assertEquals(
    replaced.match(/^(?:# |## |<!--).*/gm),
    [
      ["<!-- mine -->", "# Faster start", "## Before", "## 1. [done] Measure", "# not a heading"],
      ["## 9. not a step", "## Between", "## 2. Load the parser on first use", "# After"],
      ["## 4. code"],
    ].flat(),
  );
  assertEquals(replacePlan(replaced, plan), replaced);
});

Deno.test("numberSteps() numbers the steps from 1 and keeps all other text", () => {
  const text = "# T\r\n\r\n## 7) [x] a\r\n x \r\n\r\n## Notes\r\n## Step 2\r\n## 9. c";
  const numbered = "# T\r\n\r\n## 1. [done] a\r\n x \r\n\r\n## Notes\r\n## 2. \r\n## 3. c";
  assertEquals(numberSteps(text), numbered);
});

/** Texts of parts that have a meaning in plans. */
const arbitraryText = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("\n", "\n\n", " ", "  ", "\r\n", "\t") },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        ...["# ", "## ", "### ", "#", "1. ", "2) ", "Step 3: ", "Files", "Acceptance criteria"],
        ...[
          "- ",
          "* ",
          "[ ] ",
          "[done] ",
          "[In  progress]",
          "[x]",
          "```",
          "````",
          "~~~",
          "`",
          "<!--",
          "-->",
          ":",
          "\u2028",
          "    ",
        ],
      ),
    },
    { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) },
  ),
  { maxLength: 40 },
).map((parts) => parts.join(""));

const arbitraryState = fc.constantFrom(...PLAN_STEP_STATES);

const arbitraryPlan: fc.Arbitrary<Plan> = fc.record({
  title: arbitraryText,
  context: arbitraryText,
  steps: fc.array(
    fc.record({
      title: arbitraryText,
      state: arbitraryState,
      description: arbitraryText,
      files: fc.array(arbitraryText, { maxLength: 3 }),
      criteria: fc.array(arbitraryText, { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
}).map(normalizePlan).filter(({ title, steps }) =>
  [title, ...steps.map(({ title }) => title)].every((text) => text !== "" && text.length <= 300)
);

const RUNS = Deno.env.get("SWINK_PROVE") === "1" ? 30_000 : 250;

Deno.test("splitPlan() divides any text into blocks that join to the text", () => {
  fc.assert(
    fc.property(arbitraryText, (text) => assertEquals(splitPlan(text).map(getText).join(""), text)),
    { numRuns: RUNS },
  );
});

Deno.test("parsePlan() returns every plan that formatPlan() writes", () => {
  fc.assert(
    fc.property(arbitraryPlan, (plan) => {
      assertEquals(parse(formatPlan(plan)), plan);
      assertEquals(normalizePlan(plan), plan);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("formatPlan() writes every plan that parsePlan() reads from any text", () => {
  fc.assert(
    fc.property(arbitraryText, (text) => {
      const parsed = parsePlan(`# Title\n## 1. Step\n${text}`);
      if (parsed.type === "plan") assertEquals(parse(formatPlan(parsed.plan)), parsed.plan);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("replacePlan() writes any plan into any readable text, and keeps every section", () => {
  fc.assert(
    fc.property(arbitraryText, arbitraryPlan, (text, plan) => {
      if (findUnreadable(text)) return;
      const replaced = replacePlan(text, plan);
      assertEquals(parse(replaced).steps, plan.steps);
      const getSections = (text: string) =>
        splitPlan(text).filter(({ type }) => type === "section").map((block) =>
          getText(block).trimEnd()
        );
      assertEquals(getSections(replaced), getSections(text));
    }),
    { numRuns: RUNS },
  );
});

Deno.test("setStates() writes the states as marks, and clearStates() removes them and nothing else", () => {
  const text =
    "# T\r\n## 7)  [x]\t[open] a ##\r\n text [done] \n\n## Notes\n## Step 2\n```\n## 3. [x] c\n```\n";
  const states = ["failed", "in_progress"] as const;
  const written =
    "# T\r\n## 7)  [failed] a ##\r\n text [done] \n\n## Notes\n## Step 2\n```\n## 3. [x] c\n```\n";
  assertEquals(setStates(text, states), written);
  const cleared =
    "# T\r\n## 7)  a ##\r\n text [done] \n\n## Notes\n## Step 2\n```\n## 3. [x] c\n```\n";
  assertEquals([clearStates(text), clearStates(written)], [cleared, cleared]);
});

Deno.test("parsePlan() reads the states as a person writes them, and other brackets as a part of the title", () => {
  const marks = ["[x]", "[X]", "[ ]", "[]", "[Done]", "[ in  progress ]", "[FAILED]", "[open]"];
  const text = [...marks, "[parser]", "[done]x"].map((mark) => `## 1. ${mark} a\n`).join("");
  assertEquals(parse(`# T\n${text}`).steps.map(({ state, title }) => `${state} ${title}`), [
    ...["complete a", "complete a", "pending a", "pending a", "complete a", "in_progress a"],
    ...["failed a", "pending a", "pending [parser] a", "pending [done]x a"],
  ]);
});

Deno.test("setStates() changes the states of the steps of any text, and nothing else", () => {
  const arbitraryStates = fc.array(arbitraryState, { maxLength: 6 });
  fc.assert(
    fc.property(arbitraryText, arbitraryText, arbitraryStates, (before, after, states) => {
      const text = `${before}\n# Title\n## 1. ${after}\n## 2. [done] Step\n`;
      const written = setStates(text, states);
      assertEquals(clearStates(written), clearStates(text));
      assertEquals(setStates(written, states), written);
      const [old, now] = [parsePlan(text), parsePlan(written)];
      if (old.type === "invalid") return;
      const steps = old.plan.steps.map((step, index) => ({
        ...step,
        state: states[index] ?? "pending",
      }));
      assertEquals(now, { type: "plan", plan: { ...old.plan, steps } });
    }),
    { numRuns: RUNS },
  );
});
