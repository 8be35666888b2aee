/**
 * Type tests: the assertions are made by the type checker, which `deno test` runs before the tests.
 *
 * @module
 */

import type {
  AgentEvent,
  AgentListener,
  AgentTool,
  Infer,
  InferArguments,
  JsonObject,
  JsonSchema,
  SchemaSource,
  StructuredOutputOptions,
  ToolContext,
} from "../../mod.ts";
import { defineTool, exponentialBackoff, textResult } from "../../mod.ts";

/** `true` only for identical types, including optional and readonly modifiers and `any`. */
type Equal<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends
  (<T>() => T extends Right ? 1 : 2) ? true
  : false;

/** Compiles only for `true`. */
function assertType<_Verdict extends true>(): void {}

/** Returns a value with the type of the arguments of a tool; only for the type checker. */
function inferArguments<const Schema extends SchemaSource>(
  parameters: Schema,
): InferArguments<Schema> {
  const execute = (_args: InferArguments<Schema>): string => "";
  defineTool<Schema>({ name: "tool", description: "", parameters, execute });
  return undefined as InferArguments<Schema>;
}

Deno.test("Infer: scalars, and optional fields unless `required` lists them", () => {
  defineTool({
    name: "weather",
    description: "Returns the weather.",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", minLength: 1 },
        days: { type: "integer" },
        elevation: { type: "number" },
        detailed: { type: "boolean" },
        nothing: { type: "null" },
      },
      required: ["city", "days"],
    },
    execute: (args) => {
      assertType<
        Equal<typeof args, {
          city: string;
          days: number;
          elevation?: number;
          detailed?: boolean;
          nothing?: null;
        }>
      >();
      return "";
    },
  });
});

Deno.test("Infer: nested objects with their own required fields", () => {
  const args = inferArguments({
    type: "object",
    properties: {
      place: {
        type: "object",
        properties: {
          name: { type: "string" },
          at: {
            type: "object",
            properties: { latitude: { type: "number" }, longitude: { type: "number" } },
            required: ["latitude", "longitude"],
          },
        },
        required: ["at"],
      },
    },
    required: ["place"],
  });
  assertType<
    Equal<
      typeof args,
      { place: { at: { latitude: number; longitude: number }; name?: string } }
    >
  >();
});

Deno.test("Infer: enums and constants are literal types", () => {
  const args = inferArguments({
    type: "object",
    properties: {
      unit: { type: "string", enum: ["celsius", "fahrenheit"] },
      level: { enum: [1, 2, "max", null] },
      kind: { const: "weather" },
      on: { type: "boolean", const: true },
    },
    required: ["unit", "level", "kind", "on"],
  });
  assertType<
    Equal<
      typeof args,
      { unit: "celsius" | "fahrenheit"; level: 1 | 2 | "max" | null; kind: "weather"; on: true }
    >
  >();
});

Deno.test("Infer: arrays, and tuples of `prefixItems`", () => {
  const args = inferArguments({
    type: "object",
    properties: {
      tags: { type: "array", items: { type: "string" } },
      edits: {
        type: "array",
        items: {
          type: "object",
          properties: { from: { type: "string" }, to: { type: "string" } },
          required: ["from", "to"],
        },
      },
      matrix: { type: "array", items: { type: "array", items: { type: "number" } } },
      anything: { type: "array" },
      range: {
        type: "array",
        prefixItems: [{ type: "integer" }, { type: "string" }],
        items: false,
      },
    },
    required: ["tags", "edits", "matrix", "anything", "range"],
  });
  assertType<
    Equal<typeof args, {
      tags: string[];
      edits: { from: string; to: string }[];
      matrix: number[][];
      anything: unknown[];
      range: [number, string];
    }>
  >();
});

Deno.test("Infer: a property with a default is never missing, but optional for the model", () => {
  const schema = {
    type: "object",
    properties: {
      city: { type: "string" },
      days: { type: "integer", default: 3 },
      options: {
        type: "object",
        properties: { unit: { enum: ["c", "f"], default: "c" }, note: { type: "string" } },
        default: {},
      },
      places: {
        type: "array",
        items: { type: "object", properties: { tags: { type: "array", default: [] } } },
      },
    },
    required: ["city"],
  } as const;
  const args = inferArguments(schema);
  assertType<
    Equal<typeof args, {
      city: string;
      days: number;
      options: { unit: "c" | "f"; note?: string };
      places?: { tags: unknown[] }[];
    }>
  >();
  assertType<
    Equal<Infer<typeof schema, "input">, {
      city: string;
      days?: number;
      options?: { unit?: "c" | "f"; note?: string };
      places?: { tags?: unknown[] }[];
    }>
  >();
  defineTool({
    name: "forecast",
    description: "Returns a forecast.",
    parameters: schema,
    // @ts-expect-error: days may be missing in the model's arguments
    requiresApproval: ({ days }) => days.toFixed() === "",
    execute: ({ days, options: { unit } }) => `${days.toFixed()} ${unit.toUpperCase()}`,
  });
});

Deno.test("Infer: `anyOf`, `oneOf` and lists of types are unions, discriminated by constants", () => {
  const args = inferArguments({
    type: "object",
    properties: {
      id: { anyOf: [{ type: "string" }, { type: "integer" }] },
      note: { type: ["string", "null"] },
      shape: {
        oneOf: [
          {
            type: "object",
            properties: { kind: { const: "circle" }, radius: { type: "number" } },
            required: ["kind", "radius"],
          },
          {
            type: "object",
            properties: { kind: { const: "square" }, side: { type: "number" } },
            required: ["kind", "side"],
          },
        ],
      },
    },
    required: ["id", "note", "shape"],
  });
  assertType<
    Equal<typeof args, {
      id: string | number;
      note: string | null;
      shape: { kind: "circle"; radius: number } | { kind: "square"; side: number };
    }>
  >();
  const area = ({ shape }: typeof args): number =>
    shape.kind === "circle" ? shape.radius : shape.side;
  void area;
});

Deno.test("Infer: `allOf` is an intersection", () => {
  const args = inferArguments({
    allOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { type: "object", properties: { b: { type: "number" } }, required: ["b"] },
    ],
  });
  assertType<Equal<typeof args, { a: string } & { b: number }>>();
  const parts: { a: string; b: number } = args;
  void parts;
});

Deno.test("Infer: objects without known fields are records", () => {
  const args = inferArguments({
    type: "object",
    properties: {
      env: { type: "object", additionalProperties: { type: "string" } },
      free: { type: "object" },
      open: { type: "object", additionalProperties: true },
    },
    required: ["env", "free", "open"],
  });
  assertType<
    Equal<typeof args, {
      env: { [key: string]: string };
      free: { [key: string]: unknown };
      open: { [key: string]: unknown };
    }>
  >();
});

Deno.test("Infer: other keywords apply to each type of a list", () => {
  const args = inferArguments({
    type: "object",
    properties: {
      filter: {
        type: ["object", "null"],
        properties: { tags: { type: ["array", "string"], items: { type: "string" } } },
        required: [],
      },
    },
    required: ["filter"],
  });
  assertType<Equal<typeof args, { filter: { tags?: string | string[] } | null }>>();
});

Deno.test("Infer: schemas with unsupported keywords are unknown", () => {
  const args = inferArguments({
    type: "object",
    properties: { any: {}, all: true, reference: { $ref: "#" } },
    required: ["any", "all", "reference"],
  });
  assertType<Equal<typeof args, { any: unknown; all: unknown; reference: unknown }>>();
});

Deno.test("InferArguments: is JsonObject for a schema without literal types", () => {
  const schema: JsonSchema = { type: "object" };
  const widened = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const known = inferArguments(schema);
  assertType<Equal<typeof known, JsonObject>>();
  const unknown = inferArguments(widened);
  assertType<Equal<typeof unknown, JsonObject>>();
});

Deno.test("Infer: a schema declared `as const` keeps its literals", () => {
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  } as const;
  const args = inferArguments(schema);
  assertType<Equal<typeof args, { city: string }>>();
  assertType<Equal<Infer<typeof schema>, { city: string }>>();
});

Deno.test("Infer: a Standard Schema validator gives its output type, with the side input its input type", () => {
  interface Validator {
    readonly "~standard": {
      readonly version: 1;
      readonly vendor: "acme";
      readonly types?: {
        readonly input: { city: string; days?: number };
        readonly output: { city: string; days: number };
      };
      readonly jsonSchema: { readonly input: () => Record<string, unknown> };
    };
  }
  assertType<Equal<InferArguments<Validator>, { city: string; days: number }>>();
  assertType<Equal<InferArguments<Validator, "input">, { city: string; days?: number }>>();
  assertType<Equal<Infer<{ readonly "~standard": { readonly version: 1 } }>, unknown>>();
});

Deno.test("Infer: TypeBox schemas, with an index signature or as interfaces", () => {
  interface Indexed {
    [keyword: string]: unknown;
    static: { city: string };
  }
  interface Text {
    "~kind": "String";
    type: "string";
  }
  interface Plain {
    "~kind": "Object";
    type: "object";
    properties: { city: Text; country: Text };
    required: ["city"];
  }
  assertType<Equal<InferArguments<Indexed>, { city: string }>>();
  assertType<Equal<InferArguments<Plain>, { city: string; country?: string }>>();
  const accepts: (source: Indexed | Plain) => SchemaSource = (source) => source;
  void accepts;
});

Deno.test("defineTool(): all callbacks have typed arguments", () => {
  defineTool({
    name: "write",
    description: "Writes.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    requiresApproval: ({ path }) => path.startsWith("/etc"),
    concurrencyKey: ({ path }) => path,
    preview: ({ path }) => Promise.resolve([{ path, before: null, after: "" }]),
    // @ts-expect-error: the schema has no such field
    execute: ({ file }) => `${file}`,
  });
});

Deno.test("defineTool(): execute must return a value", () => {
  const definition = { name: "log", description: "Logs.", parameters: { type: "object" } } as const;
  interface Entry {
    text: string;
  }
  defineTool({ ...definition, execute: () => ({ rows: [1], text: "" }) });
  defineTool({ ...definition, execute: (): Entry => ({ text: "" }) });
  defineTool({ ...definition, execute: async () => await Promise.resolve({ rows: [1] }) });
  defineTool({ ...definition, execute: () => textResult("") });
  defineTool({ ...definition, execute: () => Math.random() > 0.5 ? "" : Promise.resolve(null) });
  defineTool({ ...definition, execute: (): Promise<Entry[]> => Promise.resolve([]) });
  // @ts-expect-error: undefined is no JSON value
  defineTool({ ...definition, execute: () => undefined });
  // @ts-expect-error: undefined is no JSON value
  defineTool({ ...definition, execute: async () => await Promise.resolve() });
});

Deno.test("defineTool(): execute() has the context that its annotation names", () => {
  defineTool({
    name: "greet",
    description: "Greets.",
    parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
    execute: ({ word }, { context }: ToolContext<{ user: string }>) => {
      assertType<Equal<typeof word, string>>();
      // @ts-expect-error: the context has no such field
      void context.name;
      return `${word}, ${context.user}`;
    },
  });
});

Deno.test("options of tools, retries and structured output may be undefined", () => {
  const none = undefined;
  const tool = {
    label: none,
    readOnly: none,
    requiresApproval: none,
    interruptible: none,
    sequential: none,
    concurrencyKey: none,
    timeoutMs: none,
    sideEffect: none,
    preview: none,
    countedBy: none,
  } satisfies Partial<AgentTool>;
  defineTool({ ...tool, name: "t", description: "", parameters: {}, execute: () => "" });
  exponentialBackoff({ maxAttempts: none, baseDelayMs: none, jitter: none, random: none });
  ({ maxRetries: none, full: none }) satisfies StructuredOutputOptions;
});

Deno.test("subscribe(): a listener may return any value", () => {
  const events: AgentEvent[] = [];
  const listener: AgentListener = (event) => events.push(event);
  void listener;
});

Deno.test("defineTool(): an optional field may be undefined", () => {
  defineTool({
    name: "read",
    description: "Reads.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
    // @ts-expect-error: path may be undefined
    execute: ({ path }) => path.toUpperCase(),
  });
});
