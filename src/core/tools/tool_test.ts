import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { fakeTool } from "../../testing/fake_tool.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { BadRequestError } from "../errors/errors.ts";
import { errorResult, textResult } from "../messages/tool_result.ts";
import { validateToolArguments } from "../schemas/validate_tool_arguments.ts";
import { defineTool, type ToolContext } from "./tool.ts";
import { validateArguments } from "./validate_arguments.ts";

const context: ToolContext = testToolContext();
const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;

Deno.test("defineTool() creates a tool that validates and runs [2.11]", async () => {
  const weather = defineTool({
    name: "weather",
    label: "Weather",
    description: "Returns the weather.",
    parameters,
    readOnly: true,
    execute: ({ city }) => `Sunny in ${city}`,
  });
  assertEquals(await weather.execute({ city: "Bern" }, context), "Sunny in Bern");
  assertEquals((await validateToolArguments(weather.parameters, { city: "Bern" })).valid, true);
  assertEquals((await validateToolArguments(weather.parameters, {})).valid, false);
  assertEquals([weather.name, weather.label, weather.readOnly], ["weather", "Weather", true]);
});

Deno.test("fakeTool() creates a tool with a valid schema [2.11]", async () => {
  const mock = fakeTool({ name: "mock", parameters });
  assertEquals((await validateToolArguments(mock.parameters, { city: "Bern" })).valid, true);
});

Deno.test("defineTool(): an error of a synchronous execute() becomes a rejection", async () => {
  const broken = defineTool({
    name: "broken",
    description: "Breaks.",
    parameters: { type: "object" },
    execute: () => {
      throw new Error("no");
    },
  });
  const result = broken.execute({}, context);
  assertInstanceOf(result, Promise);
  await assertRejects(() => result, Error, "no");
});

Deno.test("defineTool(): execute() can use `this`", async () => {
  const tool = defineTool({
    name: "self",
    description: "Returns its name.",
    parameters: { type: "object" },
    execute() {
      return this.name;
    },
  });
  assertEquals(await tool.execute({}, context), "self");
});

Deno.test("defineTool() uses the JSON Schema of a Standard Schema validator", () => {
  const source = {
    "~standard": { version: 1, vendor: "acme", jsonSchema: { input: () => ({ ...parameters }) } },
  } as const;
  const tool = defineTool({ name: "t", description: "", parameters: source, execute: () => "" });
  assertEquals(tool.parameters, { ...parameters });
});

Deno.test("defineTool() throws for an empty name or a schema that is not of type object", () => {
  assertThrows(
    () => defineTool({ name: "", description: "", parameters, execute: () => "" }),
    BadRequestError,
    'Invalid tool name "": it must have 1 to 64 letters, digits, "_" or "-"',
  );
  assertThrows(
    () =>
      defineTool({ name: "t", description: "", parameters: { type: "string" }, execute: () => "" }),
    BadRequestError,
    'Invalid tool "t": parameters must be a schema of type "object", not "string"',
  );
});

Deno.test("defineTool() refuses an invalid schema with the path of the keyword", () => {
  const refuse = (parameters: unknown, message: string) =>
    assertThrows(
      () =>
        defineTool({
          name: "t",
          description: "",
          parameters: parameters as never,
          execute: () => "",
        }),
      BadRequestError,
      message,
    );
  refuse(
    { properties: { a: { type: "strnig" } } },
    'The schema of the tool "t" is invalid: /properties/a/type must be one of array, boolean',
  );
  refuse({ properties: { a: { required: true } } }, "/properties/a/required must be a list of");
  refuse({ $async: true }, "/$async is not part of JSON Schema: remove it");
  refuse(
    { properties: { a: { type: "string", default: 5 } } },
    "/properties/a/default must be string",
  );
  refuse({ properties: { a: { default: 5n } } }, "is not JSON: /properties/a/default is a bigint");
  refuse(undefined, 'Invalid tool "t": parameters must be a JSON Schema');
});

Deno.test("defineTool() accepts a schema with keywords that are not checked", () => {
  const parameters = { properties: { a: { $ref: "https://example.com/a.json" } } };
  defineTool({ name: "t", description: "", parameters, execute: () => "" });
});

Deno.test("defineTool(): defaults of a JSON Schema are filled in", async () => {
  const tool = defineTool({
    name: "forecast",
    description: "Returns a forecast.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", default: 3 } },
      required: ["city"],
    },
    execute: ({ city, days }) => `${city}: ${days.toFixed()}`,
  });
  assertEquals(await validateArguments(tool, { city: "Bern" }), {
    valid: true,
    value: { city: "Bern", days: 3 },
  });
});

Deno.test("defineTool(): a default that a property refers to is filled in", async () => {
  const tool = defineTool({
    name: "forecast",
    description: "Returns a forecast.",
    parameters: {
      type: "object",
      properties: { unit: { $ref: "#/$defs/unit" } },
      $defs: { unit: { enum: ["c", "f"], default: "c" } },
    },
    execute: () => "",
  });
  assertEquals(await validateArguments(tool, {}), { valid: true, value: { unit: "c" } });
});

Deno.test("defineTool(): the output of a library's validator replaces the arguments", async () => {
  const source = {
    "~standard": {
      version: 1,
      vendor: "acme",
      validate: (value: unknown) => {
        const { city } = value as { city: string };
        return city === "Atlantis"
          ? { issues: [{ message: "does not exist", path: ["city"] }] }
          : { value: { city: city.toUpperCase() } };
      },
      jsonSchema: { input: () => parameters },
    },
  } as const;
  const tool = defineTool({ name: "t", description: "", parameters: source, execute: () => "" });
  assertEquals(await validateArguments(tool, { city: "Bern" }), {
    valid: true,
    value: { city: "BERN" },
  });
  assertEquals(await validateArguments(tool, { city: "Atlantis" }), {
    valid: false,
    errors: [{ path: "/city", message: "does not exist" }],
  });
  assertEquals(await validateArguments(tool, { city: 5 }), {
    valid: false,
    errors: [{ path: "/city", message: "must be string" }],
  });
});

Deno.test("textResult() and errorResult() create results with one text block", () => {
  const content = [{ type: "text", text: "done" }] as const;
  assertEquals(textResult("done"), { content: [...content] });
  assertEquals(textResult("done", { code: 0 }), { content: [...content], details: { code: 0 } });
  assertEquals(errorResult("done"), { content: [...content], isError: true });
});

Deno.test("defineTool() adds no properties to the definition", () => {
  const execute = () => "";
  const tool = defineTool({ name: "t", description: "d", parameters, execute });
  assertEquals(Object.keys(tool).toSorted(), ["description", "execute", "name", "parameters"]);
  assertStrictEquals(tool.parameters, parameters);
});
