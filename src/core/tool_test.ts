import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { fakeTool } from "../testing/fake_tool.ts";
import { BadRequestError } from "./errors.ts";
import { validateToolArguments } from "./schema.ts";
import { defineTool, errorResult, needsApproval, textResult, type ToolContext } from "./tool.ts";

const context: ToolContext = {
  toolCallId: "a",
  signal: new AbortController().signal,
  onUpdate: () => {},
  idempotencyKey: "k",
};
const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;

Deno.test("2.11 a tool is made of a name, words, a schema and a function", async () => {
  const weather = defineTool({
    name: "weather",
    description: "Tells the weather.",
    parameters,
    readOnly: true,
    execute: ({ city }) => `Sunny in ${city}`,
  });
  assertEquals(await weather.execute({ city: "Bern" }, context), "Sunny in Bern");
  assertEquals((await validateToolArguments(weather.parameters, { city: "Bern" })).valid, true);
  assertEquals((await validateToolArguments(weather.parameters, {})).valid, false);
  assertEquals([weather.name, weather.readOnly], ["weather", true]);
});

Deno.test("2.11 a mock tool is a tool, and its schema is one", async () => {
  const mock = fakeTool({ name: "mock", parameters });
  assertEquals((await validateToolArguments(mock.parameters, { city: "Bern" })).valid, true);
});

Deno.test("execute may be synchronous: what it throws is a rejection all the same", async () => {
  const broken = defineTool({
    name: "broken",
    description: "Breaks.",
    parameters: { type: "object" },
    execute: () => {
      throw new Error("no");
    },
  });
  const running = broken.execute({}, context);
  assertInstanceOf(running, Promise);
  await assertRejects(() => running, Error, "no");
});

Deno.test("a method of the definition keeps its this", async () => {
  const tool = defineTool({
    name: "self",
    description: "Knows itself.",
    parameters: { type: "object" },
    execute() {
      return this.name;
    },
  });
  assertEquals(await tool.execute({}, context), "self");
});

Deno.test("a validator that follows Standard Schema gives its JSON Schema", () => {
  const source = {
    "~standard": { version: 1, vendor: "acme", jsonSchema: { input: () => ({ ...parameters }) } },
  } as const;
  const tool = defineTool({ name: "t", description: "", parameters: source, execute: () => "" });
  assertEquals(tool.parameters, { ...parameters });
});

Deno.test("a tool without a name, and one whose arguments are no object, are refused", () => {
  assertThrows(
    () => defineTool({ name: "", description: "", parameters, execute: () => "" }),
    BadRequestError,
    "A tool needs a name",
  );
  assertThrows(
    () =>
      defineTool({ name: "t", description: "", parameters: { type: "string" }, execute: () => "" }),
    BadRequestError,
    'The parameters of the tool "t" must be an object schema, not one of type "string"',
  );
});

Deno.test("results of one text", () => {
  const content = [{ type: "text", text: "done" }] as const;
  assertEquals(textResult("done"), { content: [...content] });
  assertEquals(textResult("done", { code: 0 }), { content: [...content], details: { code: 0 } });
  assertEquals(errorResult("done"), { content: [...content], isError: true });
});

Deno.test("people are asked about tools that change something, unless the tool says otherwise", () => {
  const asks = (tool: Parameters<typeof fakeTool>[0], args = {}): boolean =>
    needsApproval(fakeTool(tool), args);
  assertEquals(asks({ name: "write" }), true);
  assertEquals(asks({ name: "read", readOnly: true }), false);
  assertEquals(asks({ name: "read", readOnly: true, requiresApproval: true }), true);
  assertEquals(asks({ name: "write", requiresApproval: false }), false);
  const careful = {
    name: "bash",
    requiresApproval: ({ command }: { command?: unknown }) => command !== "ls",
  };
  assertEquals(asks(careful, { command: "ls" }), false);
  assertEquals(asks(careful, { command: "rm" }), true);
});

Deno.test("properties that are not given are not there", () => {
  const execute = () => "";
  const tool = defineTool({ name: "t", description: "d", parameters, execute });
  assertEquals(Object.keys(tool).toSorted(), ["description", "execute", "name", "parameters"]);
  assertStrictEquals(tool.parameters, parameters);
});
