/**
 * The TypeScript type of the values that a schema accepts.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "./json.ts";

/**
 * The type of the values that a schema accepts: a JSON Schema literal, a TypeBox schema, or any validator
 * that follows Standard Schema (Zod 4, Valibot, ArkType). Of a validator that changes values, this is the type
 * before the change: values are checked against its JSON Schema and handed over as they are.
 *
 * Understands `type` (also as a list), `properties`, `required`, `additionalProperties`, `items`,
 * `prefixItems`, `enum`, `const`, `anyOf`, `oneOf` and `allOf`; whatever else a schema says is checked when
 * a value arrives and leaves no trace in the type.
 *
 * @typeParam Schema The schema's own type, with literals kept (`as const`).
 */
export type Infer<Schema> =
  // Validators and TypeBox know it themselves.
  Schema extends { readonly "~standard": { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly input: infer Input } ? Input : unknown
    : Schema extends { readonly static: infer Static } ? Static
    // Choices.
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
    // Arrays: a tuple, a list, anything.
    : Schema extends { readonly prefixItems: infer Items extends readonly unknown[] }
      ? { -readonly [Index in keyof Items]: Infer<Items[Index]> }
    : Schema extends { readonly type: "array"; readonly items: infer Item } ? Infer<Item>[]
    : Schema extends { readonly type: "array" } ? unknown[]
    // Objects: known fields, those that `required` names and the others; a record; anything.
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

/** The type of a tool's arguments: that of its schema, or any JSON object where the schema's type is not known. */
export type InferArguments<Schema> = unknown extends Infer<Schema> ? JsonObject : Infer<Schema>;

/** A value that stands for a JSON Schema: the schema itself, or a validator that can give one. */
export type SchemaSource = JsonSchema | SchemaInterface | StandardJsonSchemaSource;

/** A JSON Schema whose type is an interface, as TypeBox makes them; such a type has no index signature. */
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

/** A validator that follows Standard Schema and can tell its JSON Schema. */
export interface StandardJsonSchemaSource {
  /** The Standard Schema properties. */
  readonly "~standard": {
    /** Version of the standard. */
    readonly version: 1;
    /** Who made the validator. */
    readonly vendor: string;
    /** The types it goes between; exists for the type checker alone. */
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
    /** Gives the JSON Schema of what the validator accepts. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}
