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
export type Infer<Schema> = Schema extends
  { readonly "~standard": { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly input: infer Input } ? Input : unknown
  : Schema extends { readonly static: infer Static } ? Static
  : FromSchema<Schema>;

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

type FromSchema<S> = S extends { readonly const: infer Value } ? Value
  : S extends { readonly enum: readonly (infer Value)[] } ? Value
  : S extends { readonly anyOf: readonly (infer Choice)[] } ? FromSchema<Choice>
  : S extends { readonly oneOf: readonly (infer Choice)[] } ? FromSchema<Choice>
  : S extends { readonly allOf: infer Parts extends readonly unknown[] } ? FromAll<Parts>
  : S extends { readonly type: infer Type } ? FromType<Type, S>
  : S extends { readonly properties: object } ? FromObject<S>
  : unknown;

type FromAll<Parts extends readonly unknown[]> = Parts extends readonly [infer First, ...infer Rest]
  ? FromSchema<First> & FromAll<Rest>
  : unknown;

type FromType<Type, S> = Type extends readonly (infer Choice)[] ? FromType<Choice, S>
  : Type extends "string" ? string
  : Type extends "number" | "integer" ? number
  : Type extends "boolean" ? boolean
  : Type extends "null" ? null
  : Type extends "array" ? FromArray<S>
  : Type extends "object" ? FromObject<S>
  : unknown;

type FromArray<S> = S extends { readonly prefixItems: infer Items extends readonly unknown[] }
  ? { -readonly [Index in keyof Items]: FromSchema<Items[Index]> }
  : S extends { readonly items: infer Item } ? FromSchema<Item>[]
  : unknown[];

type FromObject<S> = S extends { readonly properties: infer Properties }
  ? Flatten<RequiredPart<Properties, RequiredKeys<S>> & OptionalPart<Properties, RequiredKeys<S>>>
  : S extends { readonly additionalProperties: infer Value extends object }
    ? { [key: string]: FromSchema<Value> }
  : { [key: string]: unknown };

type RequiredKeys<S> = S extends { readonly required: readonly (infer Key)[] } ? Key : never;

type RequiredPart<Properties, Key> = {
  -readonly [Name in keyof Properties as Name extends Key ? Name : never]: FromSchema<
    Properties[Name]
  >;
};

type OptionalPart<Properties, Key> = {
  -readonly [Name in keyof Properties as Name extends Key ? never : Name]?: FromSchema<
    Properties[Name]
  >;
};

type Flatten<T> = { [Key in keyof T]: T[Key] };
