/**
 * The TypeScript type of the values that a schema accepts.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "./json.ts";

/**
 * The type of the values that a schema accepts: a JSON Schema literal, a TypeBox schema, or a validator that implements
 * Standard Schema (Zod 4, Valibot, ArkType). For a validator that transforms values this is the input type: values are
 * validated against its JSON Schema and passed on unchanged.
 *
 * Supports `type` (a name or a list), `properties`, `required`, `additionalProperties`, `items`, `prefixItems`, `enum`,
 * `const`, `anyOf`, `oneOf` and `allOf`. Other keywords are validated at run time but do not affect the type.
 *
 * @typeParam Schema The type of the schema with its literals (`as const`).
 */
export type Infer<Schema> =
  // Validators and TypeBox schemas carry their type.
  Schema extends { readonly "~standard": { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly input: infer Input } ? Input : unknown
    : Schema extends { readonly static: infer Static } ? Static
    // Constants, enums, unions and intersections.
    : Schema extends { readonly const: infer Value } ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] } ? Value
    : Schema extends { readonly anyOf: readonly (infer Choice)[] } ? Infer<Choice>
    : Schema extends { readonly oneOf: readonly (infer Choice)[] } ? Infer<Choice>
    : Schema extends { readonly allOf: readonly [infer First, ...infer Rest] }
      ? Infer<First> & Infer<{ readonly allOf: Rest }>
    : Schema extends { readonly type: readonly (infer Choice)[] }
      ? Choice extends unknown ? Infer<Omit<Schema, "type"> & { readonly type: Choice }> : never
    // Scalars.
    : Schema extends { readonly type: "string" } ? string
    : Schema extends { readonly type: "number" | "integer" } ? number
    : Schema extends { readonly type: "boolean" } ? boolean
    : Schema extends { readonly type: "null" } ? null
    // Arrays: a tuple, a list, or unknown items.
    : Schema extends { readonly prefixItems: infer Items extends readonly unknown[] }
      ? { -readonly [Index in keyof Items]: Infer<Items[Index]> }
    : Schema extends { readonly type: "array"; readonly items: infer Item } ? Infer<Item>[]
    : Schema extends { readonly type: "array" } ? unknown[]
    // Objects: known fields (required ones, then optional ones), a record, or unknown fields.
    : Schema extends { readonly type?: "object"; readonly properties: infer Fields }
      ? Schema extends { readonly required: readonly (infer Required)[] } ?
          & { -readonly [Name in keyof Fields as Name & Required]: Infer<Fields[Name]> }
          & { -readonly [Name in Exclude<keyof Fields, Required>]?: Infer<Fields[Name]> } extends
          infer Both ? { [Name in keyof Both]: Both[Name] } : never
      : { -readonly [Name in keyof Fields]?: Infer<Fields[Name]> }
    : Schema extends
      { readonly type: "object"; readonly additionalProperties: infer Value extends object }
      ? { [name: string]: Infer<Value> }
    : Schema extends { readonly type: "object" } ? { [name: string]: unknown }
    : unknown;

/** The type of a tool's arguments: the type of its schema, or {@linkcode JsonObject} if that is unknown. */
export type InferArguments<Schema> = unknown extends Infer<Schema> ? JsonObject : Infer<Schema>;

/** A JSON Schema, or a validator that provides one. */
export type SchemaSource = JsonSchema | SchemaInterface | StandardJsonSchemaSource;

/** A JSON Schema whose type is an interface without an index signature, as in TypeBox. */
export interface SchemaInterface {
  /** The keyword `type`. */
  readonly type?: unknown;
  /** The keyword `properties`. */
  readonly properties?: unknown;
  /** The keyword `anyOf`. */
  readonly anyOf?: unknown;
  /** The keyword `allOf`. */
  readonly allOf?: unknown;
}

/** A validator that implements Standard Schema and provides its JSON Schema. */
export interface StandardJsonSchemaSource {
  /** The Standard Schema properties. */
  readonly "~standard": {
    /** Version of the standard. */
    readonly version: 1;
    /** Name of the validation library. */
    readonly vendor: string;
    /** Input and output types; never present at run time. */
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
    /** Returns the JSON Schema of the accepted input. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}
