import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { fakeTool } from "../../testing/fake_tool.ts";
import { BadRequestError } from "../errors/errors.ts";
import type { ValidationResult } from "../schemas/schema.ts";
import type { AgentTool } from "./tool.ts";
import { validateArguments } from "./validate_arguments.ts";

const parameters = { type: "object", properties: { n: { type: "number" } } };

function createTool(validate?: unknown): AgentTool {
  const extra = validate === undefined
    ? {}
    : { validate: validate as () => ValidationResult<unknown> };
  return fakeTool({ name: "look", parameters, ...extra });
}

Deno.test("validateArguments() returns plainly valid arguments at once and as they are, before ajv is loaded", () => {
  const args = { n: 1 };
  const result = validateArguments(createTool(), args);
  assert(!(result instanceof Promise) && result.valid);
  assertStrictEquals(result.value, args);
});

Deno.test("validateArguments() reports the errors of ajv, and then uses what ajv compiled", async () => {
  const tool = fakeTool({
    name: "look",
    parameters: { type: "object", properties: { n: { minimum: 1 } } },
  });
  const errors = [{ path: "/n", message: "must be >= 1" }];
  assertEquals(await validateArguments(tool, { n: 0 }), { valid: false, errors });
  // Plainly only numbers match a limit.
  const args = { n: "x" };
  assertEquals(validateArguments(tool, args), { valid: true, value: args });
});

Deno.test("validateArguments() calls validate with a copy of arguments that match the schema", async () => {
  const calls: unknown[] = [];
  const tool = createTool((args: unknown) => {
    calls.push(args);
    return { valid: true, value: "output" };
  });
  const errors = [{ path: "/n", message: "must be number" }];
  assertEquals(await validateArguments(tool, { n: "x" }), { valid: false, errors });
  assertEquals(calls, []);
  const args = { n: 1 };
  assertEquals(validateArguments(tool, args), { valid: true, value: "output" });
  assertEquals(calls, [args]);
  assertNotStrictEquals(calls[0], args);
});

Deno.test("validateArguments() waits for a validate that is asynchronous", async () => {
  const errors = [{ path: "/n", message: "is taken" }];
  const tool = createTool(() => Promise.resolve({ valid: false, errors }));
  assertEquals(await validateArguments(tool, {}), { valid: false, errors });
});

Deno.test("validateArguments() waits for a validator that is asynchronous, once per schema", async () => {
  const tool = createTool();
  const validator = () => Promise.resolve(() => []);
  assert(validateArguments(tool, {}, validator) instanceof Promise);
  await validateArguments(tool, {}, validator);
  assert(!(validateArguments(tool, {}, validator) instanceof Promise));
});

Deno.test("validateArguments() throws a BadRequestError when validate fails or returns something else", async () => {
  const fail = () => {
    throw new Error("no");
  };
  assertThrows(
    () => validateArguments(createTool(fail), {}),
    BadRequestError,
    "validate() failed: no",
  );
  await assertRejects(
    async () => await validateArguments(createTool(() => Promise.reject(new Error("no"))), {}),
    BadRequestError,
    "validate() failed: no",
  );
  for (const result of [undefined, true, {}, { value: {} }]) {
    assertThrows(
      () => validateArguments(createTool(() => result), {}),
      BadRequestError,
      "validate() must return { valid: true, value }",
    );
  }
  assertThrows(
    () => validateArguments(createTool(() => ({ valid: false, errors: "bad" })), {}),
    BadRequestError,
    "validate() must return a list of errors",
  );
});
