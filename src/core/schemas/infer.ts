/**
 * The TypeScript type of the values that a schema accepts.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "../json/json.ts";

/** The types of the scalar values, by the `type` of their schema. */
export interface Scalars {
  /** A text. */
  readonly string: string;
  /** A number. */
  readonly number: number;
  /** A number without a fraction. */
  readonly integer: number;
  /** A truth value. */
  readonly boolean: boolean;
  /** Nothing. */
  readonly null: null;
}

/** A schema whose `type` alone determines which kind of values it accepts. */
export interface TypedSchema {
  /** Name of the type. */
  readonly type: string;
  /** Not set. */
  readonly "~standard"?: never;
  /** Not set. */
  readonly static?: never;
  /** Not set. */
  readonly const?: never;
  /** Not set. */
  readonly enum?: never;
  /** Not set. */
  readonly anyOf?: never;
  /** Not set. */
  readonly oneOf?: never;
  /** Not set. */
  readonly allOf?: never;
}

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
 * @typeParam Side `"input"` for the type of the values that the schema accepts, before defaults and transforms.
 */
export type Infer<Schema, Side extends "input" | "output" = "output"> =
  // Most schemas, so that they need no further checks.
  Schema extends TypedSchema ? InferTyped<Schema, Side>
    // Validators and TypeBox schemas carry their type.
    : Schema extends { readonly "~standard": { readonly types?: infer Types } }
      ? NonNullable<Types> extends { readonly [Name in Side]: infer Value } ? Value : unknown
    : Schema extends { readonly static: infer Static } ? Static
    // Constants, enums, unions and intersections.
    : Schema extends { readonly const: infer Value } ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] } ? Value
    : Schema extends { readonly anyOf: readonly (infer Choice)[] } ? Infer<Choice, Side>
    : Schema extends { readonly oneOf: readonly (infer Choice)[] } ? Infer<Choice, Side>
    : Schema extends { readonly allOf: readonly [infer First, ...infer Rest] }
      ? Infer<First, Side> & Infer<{ readonly allOf: Rest }, Side>
    : Schema extends { readonly type: readonly (infer Choice)[] }
      ? Choice extends unknown ? Infer<Omit<Schema, "type"> & { readonly type: Choice }, Side>
      : never
    : InferTyped<Schema, Side>;

/**
 * The type of the values of a schema without constants and choices: by its `type`, its `properties` or its `prefixItems`.
 * A part of {@linkcode Infer}.
 *
 * @typeParam Schema The type of the schema with its literals.
 * @typeParam Side `"input"` for the type of the values that the schema accepts, before defaults and transforms.
 */
export type InferTyped<Schema, Side extends "input" | "output"> =
  // Scalars.
  Schema extends { readonly type: infer Name extends keyof Scalars } ? Scalars[Name]
    // Arrays: a tuple, a list, or unknown items.
    : Schema extends { readonly prefixItems: infer Items extends readonly unknown[] }
      ? { -readonly [Index in keyof Items]: Infer<Items[Index], Side> }
    : Schema extends { readonly type: "array"; readonly items: infer Item } ? Infer<Item, Side>[]
    : Schema extends { readonly type: "array" } ? unknown[]
    // Objects with known properties. Never missing are those that are required or, in the output, have a default.
    : Schema extends { readonly type?: "object"; readonly properties: infer Properties } ? (
        | (Schema extends { readonly required: readonly (infer Name)[] } ? Name : never)
        | (Side extends "output" ? {
            [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown }
              ? Name
              : never;
          }[keyof Properties]
          : never)
      ) extends infer Present
        ? [Present] extends [never]
          ? { -readonly [Name in keyof Properties]?: Infer<Properties[Name], Side> }
        :
          & {
            -readonly [Name in keyof Properties as Name & Present]: Infer<Properties[Name], Side>;
          }
          & {
            -readonly [Name in Exclude<keyof Properties, Present>]?: Infer<Properties[Name], Side>;
          } extends infer Both ? { [Name in keyof Both]: Both[Name] }
        : never
      : never
    // Other objects: a record, or unknown properties.
    : Schema extends
      { readonly type: "object"; readonly additionalProperties: infer Value extends object }
      ? { [name: string]: Infer<Value, Side> }
    : Schema extends { readonly type: "object" } ? { [name: string]: unknown }
    : unknown;

/**
 * The type of a tool's arguments: the type of its schema, or {@linkcode JsonObject} if that is unknown.
 *
 * @typeParam Side `"input"` for the arguments before defaults and transforms.
 */
export type InferArguments<Schema, Side extends "input" | "output" = "output"> = unknown extends
  Infer<Schema, Side> ? JsonObject : Infer<Schema, Side>;

/** A JSON Schema, also as an interface without an index signature (TypeBox), or a validator that provides one. */
export type SchemaSource =
  | JsonSchema
  | {
    readonly type?: unknown;
    readonly properties?: unknown;
    readonly anyOf?: unknown;
    readonly allOf?: unknown;
  }
  | StandardJsonSchemaSource;

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
