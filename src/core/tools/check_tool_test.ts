import { assertEquals, assertNotStrictEquals, assertThrows } from "@std/assert";
import { fakeTool } from "../../testing/fake_tool.ts";
import { BadRequestError } from "../errors/errors.ts";
import { checkTool, checkToolName, checkTools } from "./check_tool.ts";

const valid = {
  name: "look",
  description: "Looks.",
  parameters: { type: "object" },
  execute: () => Promise.resolve("ok"),
};
const library = { "~standard": { version: 1, vendor: "acme" } };

function expectProblem(tool: unknown, message: string): void {
  assertThrows(() => checkTool(tool), BadRequestError, message);
}

Deno.test("checkTool() accepts every property that a tool may have", () => {
  checkTool(valid);
  checkTool({
    ...valid,
    description: "",
    parameters: {},
    timeoutMs: Infinity,
    requiresApproval: () => true,
    concurrencyKey: () => undefined,
    preview: () => Promise.resolve([]),
    validate: () => ({ valid: true, value: {} }),
    sideEffect: "once",
    readOnly: true,
  });
  const notNull = { not: { type: "null" }, additionalProperties: { type: "string" } };
  checkTool({ ...valid, parameters: notNull });
  // Adapters encode names that providers do not accept.
  checkTool({ ...valid, name: "server.list/all" });
});

Deno.test("checkTool() names the property that is missing or invalid, and what it must be", () => {
  expectProblem(undefined, "A tool must be an object, not undefined");
  expectProblem({ ...valid, name: "" }, 'The name of a tool must be a text, not ""');
  expectProblem({ ...valid, name: 5 }, "The name of a tool must be a text, not 5");
  const cases: [property: string, value: unknown, message: string][] = [
    ["execute", undefined, "execute must be a function, not undefined"],
    ["description", undefined, "description must be a text for the model, not undefined"],
    ["parameters", undefined, "parameters must be a JSON Schema such as"],
    ["parameters", [], "parameters must be a JSON Schema such as"],
    [
      "parameters",
      { type: "string" },
      'parameters must be a schema of type "object", not "string"',
    ],
    [
      "parameters",
      { city: { type: "string" }, days: { type: "integer" } },
      'parameters must be a schema of type "object", with its properties in "properties"',
    ],
    ["parameters", library, "use defineTool() to pass the schema of a library"],
    ["parameters", { type: "object", parse: () => {} }, "must be a JSON Schema"],
    ["parameters", { city: library }, "parameters must be a schema of the complete object"],
    ["timeoutMs", 0, "timeoutMs must be a number above 0, not 0"],
    ["timeoutMs", -1, "timeoutMs must be a number above 0, not -1"],
    ["timeoutMs", NaN, "timeoutMs must be a number above 0, not NaN"],
    ["timeoutMs", "5", 'timeoutMs must be a number above 0, not "5"'],
    ["requiresApproval", "yes", 'requiresApproval must be a boolean or a function, not "yes"'],
    ["concurrencyKey", "key", 'concurrencyKey must be a function, not "key"'],
    ["preview", {}, "preview must be a function, not an object"],
    ["validate", [], "validate must be a function, not an array"],
    ["readOnly", 1, "readOnly must be true or false, not 1"],
    ["interruptible", "no", 'interruptible must be true or false, not "no"'],
    ["sequential", null, "sequential must be true or false, not null"],
    ["sideEffect", "some", 'sideEffect must be none, idempotent or once, not "some"'],
  ];
  for (const [property, value, message] of cases) {
    expectProblem({ ...valid, [property]: value }, message);
    expectProblem({ ...valid, [property]: value }, 'Invalid tool "look": ');
  }
});

Deno.test("checkTool() says how a schema under the name inputSchema must be called", () => {
  const { parameters, ...tool } = valid;
  expectProblem(
    { ...tool, inputSchema: parameters },
    'Unknown property "inputSchema" of the tool "look": did you mean parameters?',
  );
});

Deno.test("checkToolName() accepts names that every provider accepts", () => {
  for (const name of ["a", "get_weather", "Get-Weather-2", "x".repeat(64)]) checkToolName(name);
});

Deno.test("checkToolName() suggests a valid name", () => {
  const cases: [unknown, string][] = [
    [
      "get weather!",
      'Invalid tool name "get weather!": it must have 1 to 64 letters, digits, "_" or "-", as in "get_weather"',
    ],
    ["", 'as in "get_weather"'],
    [
      undefined,
      'Invalid tool name undefined: it must have 1 to 64 letters, digits, "_" or "-", as in "get_weather"',
    ],
    ["x".repeat(65), `as in "${"x".repeat(64)}"`],
    ["météo", 'as in "m_t_o"'],
  ];
  for (const [name, message] of cases) {
    assertThrows(() => checkToolName(name), BadRequestError, message);
  }
});

Deno.test("checkTools() returns a copy of the list", () => {
  const tools = [fakeTool({ name: "a" }), fakeTool({ name: "b" })];
  assertEquals(checkTools(tools), tools);
  assertNotStrictEquals(checkTools(tools), tools);
});

Deno.test("checkTools() refuses two tools with one name, invalid tools, and values that are no list", () => {
  const refuse = (tools: unknown, message: string) =>
    assertThrows(() => checkTools(tools as never), BadRequestError, message);
  refuse([valid, valid], 'Two tools have the name "look": tool names must be unique');
  refuse([valid, undefined], "A tool must be an object, not undefined");
  refuse({ look: valid }, "The tools must be a list, not an object");
});
