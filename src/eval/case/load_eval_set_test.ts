import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { scoreResponse } from "../evaluators/response_evaluator.ts";
import type { EvalFiles } from "./eval_files.ts";
import { loadEvalSet, parseEvalSet } from "./load_eval_set.ts";

const YAML = `id: greetings
cases:
  - id: hello
    userMessages: [Greet me, Again]
    expectedTrajectory:
      match: in_order
      calls:
        - tool: read_file
          matchers:
            path: { type: contains, text: .ts }
    expectedResponse: { type: contains, text: Hello }
    budget: { maxTurns: 3 }
`;

function createFiles(contents: Readonly<Record<string, string>>): Pick<EvalFiles, "read"> {
  return { read: (path) => Promise.resolve(contents[path]) };
}

async function getMessage(text: string): Promise<string> {
  const error = await assertRejects(() => parseEvalSet(text, "set.yaml"), BadRequestError);
  return error.message;
}

Deno.test("loadEvalSet: reads YAML, with the directory of the file", async () => {
  const set = await loadEvalSet("/sets/a.yaml", { files: createFiles({ "/sets/a.yaml": YAML }) });
  assertEquals(set.directory, "/sets");
  assertEquals(set.cases[0]?.userMessages, ["Greet me", "Again"]);
});

Deno.test("loadEvalSet: JSON gives the same set as YAML", async () => {
  const set = await parseEvalSet(YAML);
  assertEquals(await parseEvalSet(JSON.stringify(set)), set);
});

Deno.test("loadEvalSet: an error names file, line and key of an invalid value", async () => {
  const message = await getMessage(YAML.replace("maxTurns: 3", "maxTurns: many"));
  assertEquals(message, "set.yaml:12: cases[0].budget.maxTurns must be integer");
});

Deno.test("loadEvalSet: an error about an expectation concerns its type only", async () => {
  const withResponse = (response: string) =>
    YAML.replace("{ type: contains, text: Hello }", response);
  assertEquals(
    await getMessage(withResponse("{ type: contain, text: Hello }")),
    'set.yaml:11: cases[0].expectedResponse.type must be one of "exact", "contains", "regex", "schema"',
  );
  assertEquals(
    await getMessage(withResponse("{ type: contains }")),
    "set.yaml:11: cases[0].expectedResponse.text is required",
  );
  assertEquals(
    await getMessage(withResponse("{ type: regex, pattern: a, text: a }")),
    "set.yaml:11: cases[0].expectedResponse.text is not a known property",
  );
});

Deno.test("loadEvalSet: rejects patterns and schemas that cannot be compiled", async () => {
  const invalid = YAML.replace("{ type: contains, text: .ts }", '{ type: regex, pattern: "(" }')
    .replace("{ type: contains, text: Hello }", "{ type: schema, schema: { type: 5 } }") +
    '    expectedFiles: [{ type: regex, path: a, pattern: "[" }]\n';
  const message = await getMessage(invalid);
  assertStringIncludes(
    message,
    "set.yaml:10: cases[0].expectedTrajectory.calls[0].matchers.path.pattern is invalid: ",
  );
  assertStringIncludes(message, "set.yaml:11: cases[0].expectedResponse.schema is invalid: ");
  assertStringIncludes(message, "set.yaml:13: cases[0].expectedFiles[0].pattern is invalid: ");
});

Deno.test("loadEvalSet: rejects a document that is nested too deep", async () => {
  const message = await getMessage(`id: a\ncases: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`);
  assertStringIncludes(message, "set.yaml:2: the document is nested too deep");
});

Deno.test("loadEvalSet: an error names an unknown key", async () => {
  const message = await getMessage(YAML.replace("    budget:", "    buget:"));
  assertStringIncludes(message, "set.yaml:12: cases[0].buget");
});

Deno.test("loadEvalSet: an error names the line of a syntax error [A158]", async () => {
  const message = await getMessage("id: a\ncases: [\n");
  assertStringIncludes(message, "set.yaml:3: ");
});

Deno.test("loadEvalSet: rejects an id that two cases have", async () => {
  const message = await getMessage(
    `id: a\ncases:\n  - { id: b, userMessages: [x] }\n  - { id: b, userMessages: [x] }\n`,
  );
  assertEquals(message, 'set.yaml:4: cases[1].id "b" is used by another case');
});

Deno.test("loadEvalSet: rejects ids that are paths [A158]", async () => {
  const message = await getMessage(`id: ../a\ncases:\n  - { id: b, userMessages: [x] }\n`);
  assertStringIncludes(message, "set.yaml:1: id must match pattern");
});

Deno.test("loadEvalSet: rejects a set without cases", async () => {
  assertStringIncludes(await getMessage("id: a\ncases: []\n"), "set.yaml:2: cases ");
});

Deno.test("loadEvalSet: rejects aliases that multiply the size of the document", async () => {
  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  for (const [name, previous] of ["ba", "cb", "dc", "ed", "fe", "gf", "hg"]) {
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${previous}`).join(", ")}]`);
  }
  assertStringIncludes(await getMessage(bomb.join("\n")), "alias");
});

Deno.test("loadEvalSet: rejects aliases of a value that contains them", async () => {
  const message = await getMessage(
    `id: a\ncases:\n  - { id: b, userMessages: [x], evaluators: [{ name: c, options: &o { o: *o } }] }\n`,
  );
  assertStringIncludes(message, "alias");
});

Deno.test("loadEvalSet: reads YAML with an alias that many cases have", async () => {
  const cases = Array.from(
    { length: 150 },
    (_, index) =>
      `  - { id: c${index}, userMessages: [x], budget: ${
        index === 0 ? "&budget { maxTurns: 3 }" : "*budget"
      } }\n`,
  );
  const set = await parseEvalSet(`id: a\ncases:\n${cases.join("")}`);
  assertEquals(set.cases[149]?.budget, { maxTurns: 3 });
});

Deno.test("loadEvalSet: rejects a file that does not exist", async () => {
  await assertRejects(
    () => loadEvalSet("/none.yaml", { files: createFiles({}) }),
    BadRequestError,
    'The evaluation set "/none.yaml" does not exist',
  );
});

Deno.test("loadEvalSet: an expectation that each run meets is invalid", async () => {
  const getProblem = async (expectation: string) =>
    (await getMessage(`id: a\ncases:\n  - id: b\n    userMessages: [c]\n    ${expectation}\n`))
      .replace(/^set.yaml:\d+: cases\[0\]\./, "");
  const noText = "must NOT have fewer than 1 characters";
  for (
    const [expectation, problem] of [
      ["expectedResponse: { type: contains, text: '' }", `expectedResponse.text ${noText}`],
      ["expectedResponse: { type: regex, pattern: '' }", `expectedResponse.pattern ${noText}`],
      [
        "expectedFiles: [{ type: contains, path: a, text: '' }]",
        `expectedFiles[0].text ${noText}`,
      ],
      [
        "expectedFiles: [{ type: regex, path: a, pattern: '' }]",
        `expectedFiles[0].pattern ${noText}`,
      ],
      ["expectedFiles: []", "expectedFiles must NOT have fewer than 1 items"],
      [
        "expectedTrajectory: { match: in_order, calls: [] }",
        "expectedTrajectory.calls must NOT have fewer than 1 items",
      ],
      [
        "expectedTrajectory: { match: any_order, calls: [] }",
        "expectedTrajectory.calls must NOT have fewer than 1 items",
      ],
    ] as const
  ) {
    assertEquals(await getProblem(expectation), problem);
  }
  const exact = "expectedTrajectory: { match: exact, calls: [] }";
  await parseEvalSet(`id: a\ncases:\n  - id: b\n    userMessages: [c]\n    ${exact}\n`);
});

Deno.test("loadEvalSet: several documents in a file are one problem", async () => {
  const message = await getMessage(`${YAML}---\n${YAML}`);
  assertEquals(message, "set.yaml:13: the file has several documents: write all cases in one");
});

Deno.test("parseEvalSet: a pattern that matches any answer is an error", async () => {
  const create = (pattern: string) =>
    JSON.stringify({
      id: "a",
      cases: [{
        id: "a",
        userMessages: ["Go"],
        expectedResponse: { type: "regex", pattern },
        expectedFiles: [{ type: "regex", path: "a", pattern: ".*" }],
      }],
    });
  for (const pattern of [".*", "a*", "^", "(?:)", "Hello|", "[\\s\\S]*", "x{0,2}"]) {
    assertEquals(
      await getMessage(create(pattern)),
      "set.yaml:1: cases[0].expectedResponse.pattern matches any text, so that each run would meet it",
      pattern,
    );
  }
  for (const pattern of [".+", "^$", "^.*$", "\\S", "^Hello", "o*k"]) {
    assertEquals((await parseEvalSet(create(pattern))).cases.length, 1, pattern);
  }
});

Deno.test("parseEvalSet: a pattern that excludes a text or some characters is no error", async () => {
  const excluding = [
    ["^(?![\\s\\S]*sorry)", "I am\nsorry"],
    ["^(?!Sorry)", "Sorry"],
    ["^[^<>]*$", "<p>Hello</p>"],
    ["^[^{}]*$", "{}"],
    ["^[^\\u{1F600}-\\u{1F64F}]*$", "Hello \u{1F600}"],
  ] as const;
  for (const [pattern, text] of excluding) {
    const expectedResponse = { type: "regex", pattern } as const;
    const cases = [{ id: "a", userMessages: ["Go"], expectedResponse }];
    await parseEvalSet(JSON.stringify({ id: "a", cases }));
    const passes = async (answer: string) => (await scoreResponse(answer, expectedResponse)).passed;
    assertEquals([await passes("Hello"), await passes(text)], [true, false], pattern);
  }
});
