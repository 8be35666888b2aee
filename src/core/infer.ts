/**
 * The TypeScript type of the values that a schema accepts.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "./json.ts";

/**
 * The type of the values that a validation with a schema returns: of a JSON Schema literal, a TypeBox schema, or a
 * validator that implements Standard Schema (Zod 4, Valibot, ArkType). For a validator this is its output type, after
 * defaults and transforms. A property of a JSON Schema that has a `default` is never missing, since it is filled in.
 *
 * Supports `type` (a name or a list), `properties`, `required`, `default`, `additionalProperties`, `items`,
 * `prefixItems`, `enum`, `const`, `anyOf`, `oneOf` and `allOf`. Other keywords are validated at run time but do not
 * affect the type.
 *
 * @typeParam Schema The type of the schema with its literals (`as const`).
 */
export type Infer<Schema> = InferSide<Schema, "output">;

/**
 * The type of the values that a schema accepts, before defaults and transforms: for {@linkcode Infer}, its input.
 *
 * @typeParam Schema The type of the schema with its literals (`as const`).
 */
export type InferInput<Schema> = InferSide<Schema, "input">;

/** The type of one side of a schema: {@linkcode InferInput} or {@linkcode Infer}. */
export type InferSide<Schema, Side extends "input" | "output"> =
  // Validators and TypeBox schemas carry their type.
  Schema extends { readonly "~standard": { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly [Name in Side]: infer Value } ? Value : unknown
    : Schema extends { readonly static: infer Static } ? Static
    // Constants, enums, unions and intersections.
    : Schema extends { readonly const: infer Value } ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] } ? Value
    : Schema extends { readonly anyOf: readonly (infer Choice)[] } ? InferSide<Choice, Side>
    : Schema extends { readonly oneOf: readonly (infer Choice)[] } ? InferSide<Choice, Side>
    : Schema extends { readonly allOf: readonly [infer First, ...infer Rest] }
      ? InferSide<First, Side> & InferSide<{ readonly allOf: Rest }, Side>
    : Schema extends { readonly type: readonly (infer Choice)[] }
      ? Choice extends unknown ? InferSide<Omit<Schema, "type"> & { readonly type: Choice }, Side>
      : never
    // Scalars.
    : Schema extends { readonly type: "string" } ? string
    : Schema extends { readonly type: "number" | "integer" } ? number
    : Schema extends { readonly type: "boolean" } ? boolean
    : Schema extends { readonly type: "null" } ? null
    // Arrays: a tuple, a list, or unknown items.
    : Schema extends { readonly prefixItems: infer Items extends readonly unknown[] }
      ? { -readonly [Index in keyof Items]: InferSide<Items[Index], Side> }
    : Schema extends { readonly type: "array"; readonly items: infer Item }
      ? InferSide<Item, Side>[]
    : Schema extends { readonly type: "array" } ? unknown[]
    // Objects: known properties (those never missing, then optional ones), a record, or unknown properties.
    : Schema extends { readonly type?: "object"; readonly properties: infer Properties }
      ? InferObject<Properties, RequiredName<Schema, Properties, Side>, Side>
    : Schema extends
      { readonly type: "object"; readonly additionalProperties: infer Value extends object }
      ? { [name: string]: InferSide<Value, Side> }
    : Schema extends { readonly type: "object" } ? { [name: string]: unknown }
    : unknown;

/** The type of an object with these properties; those that are not required are optional. */
export type InferObject<Properties, Required, Side extends "input" | "output"> = [Required] extends
  [never] ? { -readonly [Name in keyof Properties]?: InferSide<Properties[Name], Side> }
  :
    & {
      -readonly [Name in keyof Properties as Name & Required]: InferSide<Properties[Name], Side>;
    }
    & {
      -readonly [Name in Exclude<keyof Properties, Required>]?: InferSide<Properties[Name], Side>;
    } extends infer Both ? { [Name in keyof Both]: Both[Name] }
  : never;

/** The names of the properties that are never missing. */
export type RequiredName<Schema, Properties, Side extends "input" | "output"> =
  | (Schema extends { readonly required: readonly (infer Name)[] } ? Name : never)
  | (Side extends "output" ? DefaultName<Properties> : never);

/** The names of the properties that have a default. */
export type DefaultName<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Properties];

/** The type of a tool's arguments: the type of its schema, or {@linkcode JsonObject} if that is unknown. */
export type InferArguments<Schema> = unknown extends Infer<Schema> ? JsonObject : Infer<Schema>;

/** The type of a tool's arguments before defaults and transforms, or {@linkcode JsonObject} if that is unknown. */
export type InferArgumentsInput<Schema> = unknown extends InferInput<Schema> ? JsonObject
  : InferInput<Schema>;

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
    /** Checks a value and returns its output or its issues, at once or as a promise. */
    readonly validate?: (value: unknown) => unknown;
    /** Returns the JSON Schema of the accepted input. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}
