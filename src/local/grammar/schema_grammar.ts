/**
 * Grammars of JSON values by their schema, in GBNF, the notation of llama.cpp.
 *
 * A grammar accepts JSON with the structure of the schema. Keywords that a grammar cannot express, such as patterns, are
 * left to the validation of the value. Notation: https://github.com/ggml-org/llama.cpp/tree/master/grammars
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../core/json/json.ts";
import { decodePercentEncoded } from "../../core/text/percent_encoding.ts";

/** Rules that all grammars share. Spaces are limited, so that a model cannot write them without end. */
const BASE_RULES: Readonly<Record<string, string>> = {
  space: String.raw`| " " | "\n" [ \t]{0,20}`,
  boolean: String.raw`("true" | "false") space`,
  null: `"null" space`,
  integral: `"0" | [1-9] [0-9]{0,15}`,
  integer: `"-"? integral space`,
  number: `"-"? integral ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})? space`,
  char: String.raw`[^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})`,
  string: String.raw`"\"" char* "\"" space`,
  object: String
    .raw`"{" space (string ":" space value ("," space string ":" space value)*)? "}" space`,
  array: `"[" space (value ("," space value)*)? "]" space`,
  value: "object | array | string | number | boolean | null",
};

/** Largest bound of a length; llama.cpp writes repetitions out. */
const MAX_BOUND = 256;
/** Largest number of values in an enumeration, of alternatives, and of the members of an object. */
const MAX_VALUES = 1_000;
/** Largest number of optional members with a fixed order, whose rule grows with its square. */
const MAX_ORDERED = 16;
/** Largest number of rules for one schema. */
const MAX_RULES = 500;
/** Deepest nesting of schemas. */
const MAX_DEPTH = 32;

/** Collects the rules of a grammar. */
export class SchemaGrammar {
  readonly #rules = new Map<string, string>();
  readonly #references = new Map<unknown, string>();
  /** The rules that a rule can begin with, since llama.cpp refuses rules that begin with themselves. */
  readonly #firstRules = new Map<string, string[]>();

  /** Adds the rules of a value and returns the name of its rule. */
  addSchema(schema: JsonSchema | boolean): string {
    return this.#add(schema, { root: schema, depth: 0, name: "" });
  }

  /** Adds a rule. */
  addRule(name: string, rule: string): void {
    this.#rules.set(name, rule);
  }

  /**
   * Returns the number of ways in which the rule with most of them can begin. llama.cpp follows each of them at once, in a
   * call that nothing can interrupt, also where several lead to the same rule.
   */
  countStarts(): number {
    const counts = new Map<string, number>();
    const count = (name: string): number => {
      const known = counts.get(name);
      if (known !== undefined) return known;
      // No rule begins with itself.
      const starts = (this.#firstRules.get(name) ?? []).map(count);
      const total = Math.max(1, starts.reduce((sum, start) => sum + start, 0));
      counts.set(name, total);
      return total;
    };
    return Math.max(0, ...[...this.#firstRules.keys()].map(count));
  }

  /** Returns the text of the grammar, whose root is the rule `root`. */
  toText(): string {
    return Object.entries({ ...BASE_RULES, ...Object.fromEntries(this.#rules) })
      .map(([name, rule]) => `${name} ::= ${rule}\n`).join("");
  }

  #add(schema: unknown, context: SchemaContext): string {
    if (!isJsonObject(schema)) return "value";
    if (context.depth > MAX_DEPTH || this.#rules.size > MAX_RULES) return "value";
    const known = this.#references.get(schema);
    if (known !== undefined) return known;
    const name = `v${this.#references.size}`;
    this.#references.set(schema, name);
    const inner = { ...context, depth: context.depth + 1, name };
    this.#rules.set(name, this.#createRule(schema, inner));
    return name;
  }

  #createRule(schema: JsonObject, context: SchemaContext): string {
    const { $ref, enum: values, anyOf, oneOf } = schema;
    const allOf = Array.isArray(schema.allOf) ? schema.allOf : undefined;
    if (typeof $ref === "string") return this.#addFirst(resolve($ref, context.root), context);
    if ("const" in schema) return toValueRule(schema.const);
    if (Array.isArray(values) && values.length > 0 && values.length <= MAX_VALUES) {
      return values.map(toValueRule).join(" | ");
    }
    const alternatives = toList(anyOf ?? oneOf ?? (allOf?.length === 1 ? allOf : undefined))
      .filter((alternative) => alternative !== false);
    // Next to members, they are further conditions.
    if (alternatives.length > 0 && !("properties" in schema)) {
      if (alternatives.length > MAX_VALUES) return "value";
      return alternatives.map((alternative) =>
        this.#addFirst(inheritType(alternative, schema), context)
      ).join(" | ");
    }
    const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? guessType(schema)];
    if (types.length === 0) return "value";
    return [...new Set(types)].map((type) => this.#createTypeRule(type, schema, context))
      .join(" | ");
  }

  /** Adds a rule that the rule of the context can begin with. */
  #addFirst(schema: unknown, context: SchemaContext): string {
    const first = this.#add(schema, context);
    if (this.#canBeginWith(first, context.name)) return "value";
    const others = this.#firstRules.get(context.name) ?? [];
    this.#firstRules.set(context.name, [...others, first]);
    return first;
  }

  #canBeginWith(rule: string, wanted: string): boolean {
    const reached = new Set([rule]);
    // Rules that are added to a set are visited, too.
    for (const name of reached) {
      if (name === wanted) return true;
      for (const first of this.#firstRules.get(name) ?? []) reached.add(first);
    }
    return false;
  }

  #createTypeRule(type: unknown, schema: JsonObject, context: SchemaContext): string {
    switch (type) {
      case "object":
        return this.#createObjectRule(schema, context);
      case "array":
        return this.#createArrayRule(schema, context);
      case "string":
        return createStringRule(schema);
      case "integer":
      case "number":
      case "boolean":
      case "null":
        return type;
      default:
        return "value";
    }
  }

  /** Required members come first, in the order of the schema, and then any of the others, in order. */
  #createObjectRule(schema: JsonObject, context: SchemaContext): string {
    const { additionalProperties } = schema;
    const properties = isJsonObject(schema.properties) ? schema.properties : {};
    const required = toList(schema.required).filter((name) => typeof name === "string");
    if (Object.keys(properties).length + required.length > 2 * MAX_VALUES) return "object";
    const member = (name: string, value: unknown) =>
      `${toLiteral(JSON.stringify(name))} space ":" space ${this.#add(value, context)}`;
    const undeclared = required.filter((name) => !Object.hasOwn(properties, name));
    const first = [
      ...Object.entries(properties).filter(([name]) => required.includes(name)),
      ...new Map(undeclared.map((name) => [name, additionalProperties])),
    ].map(([name, value]) => member(name, value));
    const optional = Object.entries(properties).filter(([name]) => !required.includes(name))
      .map(([name, value]) => member(name, value));
    const others = Object.keys(properties).length > 0
      ? this.#createOptionalRule(optional, first.length > 0)
      : this.#createMapRule(additionalProperties, first.length > 0, context);
    return `"{" space ${first.join(` "," space `)} ${others} "}" space`;
  }

  /** Any members, of an object whose members are not declared. */
  #createMapRule(value: unknown, hasRequired: boolean, context: SchemaContext): string {
    if (value === false) return "";
    const member = `string ":" space ${this.#add(value, context)}`;
    return hasRequired ? `("," space ${member})*` : `(${member} ("," space ${member})*)?`;
  }

  /** Each alternative is one optional member and those after it. */
  #createOptionalRule(members: readonly string[], hasRequired: boolean): string {
    if (members.length === 0) return "";
    if (members.length > MAX_ORDERED) {
      const member = `(${members.join(" | ")})`;
      return hasRequired ? `("," space ${member})*` : `(${member} ("," space ${member})*)?`;
    }
    if (hasRequired) return members.map((rule) => `("," space ${rule})?`).join(" ");
    const alternatives = members.map((rule, index) =>
      [rule, ...members.slice(index + 1).map((next) => `("," space ${next})?`)].join(" ")
    );
    return `(${alternatives.join(" | ")})?`;
  }

  #createArrayRule(schema: JsonObject, context: SchemaContext): string {
    const { items, prefixItems, minItems, maxItems } = schema;
    if (Array.isArray(prefixItems)) return "array";
    const item = this.#add(items, context);
    const minimum = toBound(minItems) ?? 0;
    const maximum = toBound(maxItems);
    if (maximum === 0) return `"[" space "]" space`;
    const more = repeat(`("," space ${item})`, Math.max(0, minimum - 1), maximum && maximum - 1);
    const list = `${item} ${more}`;
    return `"[" space ${minimum > 0 ? list : `(${list})?`} "]" space`;
  }
}

interface SchemaContext {
  /** The schema that references begin at. */
  readonly root: unknown;
  readonly depth: number;
  /** The rule that is being created. */
  readonly name: string;
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Keywords that determine a value, so that the type of the enclosing schema adds nothing. */
const DETERMINING = ["type", "$ref", "const", "enum"] as const;

/** Adds the type of a schema to one of its alternatives, which need not repeat it. */
function inheritType(alternative: unknown, { type }: JsonObject): unknown {
  if (type === undefined || !isJsonObject(alternative)) return alternative;
  return DETERMINING.some((name) => name in alternative) ? alternative : { ...alternative, type };
}

function guessType(schema: JsonObject): string | undefined {
  if ("properties" in schema) return "object";
  return "items" in schema ? "array" : undefined;
}

function createStringRule({ minLength, maxLength }: JsonObject): string {
  const minimum = toBound(minLength) ?? 0;
  const maximum = toBound(maxLength);
  if (minimum === 0 && maximum === undefined) return "string";
  return String.raw`"\"" ${repeat("char", minimum, maximum)} "\"" space`;
}

function repeat(rule: string, minimum: number, maximum: number | undefined): string {
  if (maximum === undefined) return minimum === 0 ? `${rule}*` : `${rule}{${minimum},}`;
  return `${rule}{${Math.min(minimum, maximum)},${maximum}}`;
}

/** Returns a bound that a grammar can have. */
function toBound(value: unknown): number | undefined {
  const isBound = typeof value === "number" && Number.isInteger(value) && value >= 0;
  return isBound && value <= MAX_BOUND ? value : undefined;
}

/** Follows a reference within the schema; others accept any value. */
function resolve(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let value = root;
  for (const name of toPath(reference)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = Reflect.get(value, name);
  }
  return value;
}

function toPath(reference: string): string[] {
  const names = reference.slice(2).split("/");
  return names.map((name) =>
    decodePercentEncoded(name).replaceAll("~1", "/").replaceAll("~0", "~")
  );
}

function toValueRule(value: unknown): string {
  return `${toLiteral(JSON.stringify(value) ?? "null")} space`;
}

/** Quotes a text for a grammar. */
export function toLiteral(text: string): string {
  const escaped = text.replaceAll(/["\\\n\r\t]/g, (character) => ESCAPES[character] ?? character);
  return `"${escaped}"`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': String.raw`\"`,
  "\\": String.raw`\\`,
  "\n": String.raw`\n`,
  "\r": String.raw`\r`,
  "\t": String.raw`\t`,
};
