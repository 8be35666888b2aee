/**
 * Compiles JSON Schemas (draft 2020-12) to functions, without `eval`.
 *
 * Schemas of older drafts compile as well, back to draft 4: their keywords are read in the sense of their time where it
 * differs. A keyword that cannot be compiled is ignored and reported, so that the rest of the schema still applies.
 * Unknown keywords are ignored without a report, as are `format` and the other annotations.
 *
 * @module
 */

import { ARRAY_KEYWORDS, UNEVALUATED_ITEMS } from "./array_keywords.ts";
import { type DefaultsContext, DefaultsFiller } from "./defaults.ts";
import { escapeKey, evaluate, type SchemaNode, type ValidationError } from "./evaluation.ts";
import { isRecord, type JsonRecord } from "./json_object.ts";
import { type Keyword, type KeywordContext, KeywordError, type KeywordProblem } from "./keyword.ts";
import { isLibrarySchema } from "./library_schema.ts";
import { LOGIC_KEYWORDS } from "./logic_keywords.ts";
import { OBJECT_KEYWORDS, UNEVALUATED_PROPERTIES } from "./object_keywords.ts";
import { SchemaDocument } from "./schema_document.ts";
import { VALUE_KEYWORDS } from "./value_keywords.ts";

/** A keyword that is not checked, or a part of a schema that is no schema. */
export interface IgnoredKeyword {
  /** JSON Pointer to it in the schema. */
  readonly path: string;
  /** Whether its value violates the standard (`invalid`) or checking it is not supported (`unsupported`). */
  readonly problem: KeywordProblem;
  /** The reason, as a fragment: `must be a number`. */
  readonly message: string;
}

/** In the order of evaluation and of errors. */
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ...VALUE_KEYWORDS,
  ...OBJECT_KEYWORDS,
  ...ARRAY_KEYWORDS,
  ...LOGIC_KEYWORDS,
  UNEVALUATED_PROPERTIES,
  UNEVALUATED_ITEMS,
  ["$async", rejectAsync],
]);

/** An extension of ajv, which would make every validation succeed at first. */
function rejectAsync(value: unknown): undefined {
  if (value === true) throw new KeywordError("invalid", "is not part of JSON Schema: remove it");
}

/** Drafts in which keywords next to `$ref` are ignored. */
const REFERENCE_ONLY_DRAFTS = /draft-0[3-7]/;

/** A compiled schema. */
export class CompiledJsonSchema {
  /** The keywords that are not checked. */
  readonly ignored: readonly IgnoredKeyword[];
  readonly #schema: JsonRecord;
  readonly #compiler: SchemaCompiler;
  readonly #root: SchemaNode;

  /** Compiles a schema, whose nesting must be limited. */
  constructor(schema: JsonRecord) {
    this.#schema = schema;
    this.#compiler = new SchemaCompiler(schema);
    this.#root = this.#compiler.compile(schema, "");
    this.ignored = this.#compiler.ignored;
  }

  /** Returns the violations by a value; none if it is valid. */
  validate(value: unknown): readonly ValidationError[] {
    return evaluate(this.#root, value, this.#compiler);
  }

  /** Whether any property has a default. */
  get hasDefaults(): boolean {
    return this.#compiler.defaults.length > 0;
  }

  /** Returns the defaults that do not match their own schema. */
  findInvalidDefaults(): readonly IgnoredKeyword[] {
    return this.#compiler.defaults.flatMap(({ schema, path }) => {
      const [error] = evaluate(
        this.#compiler.compile(schema, path),
        schema["default"],
        this.#compiler,
      );
      if (!error) return [];
      return [{ path: `${path}/default`, problem: "invalid", message: error.message }];
    });
  }

  /** Returns a valid value with the properties that are missing and have a default; never changes the value itself. */
  fillDefaults(value: unknown): unknown {
    return new DefaultsFiller(this.#compiler).fill(this.#schema, value);
  }
}

/** A schema that accepts every value. */
const ANY: SchemaNode = { checks: [] };

/** A schema that accepts no value. */
const NONE: SchemaNode = { checks: [(evaluation) => evaluation.report("is not allowed")] };

/** A schema with a default, and the path to it. */
interface SchemaWithDefault {
  readonly schema: JsonRecord;
  readonly path: string;
}

class SchemaCompiler implements DefaultsContext {
  readonly ignored: IgnoredKeyword[] = [];
  readonly defaults: SchemaWithDefault[] = [];
  readonly #root: JsonRecord;
  readonly #nodes = new Map<JsonRecord, SchemaNode>();
  readonly #isReferenceOnly: boolean;
  #document: SchemaDocument | undefined;
  #recordsMembers = false;

  constructor(root: JsonRecord) {
    this.#root = root;
    this.#isReferenceOnly = REFERENCE_ONLY_DRAFTS.test(String(root["$schema"]));
  }

  /** Whether a keyword depends on the members that other keywords evaluate. */
  get recordsMembers(): boolean {
    return this.#recordsMembers;
  }

  resolve(reference: string, from: JsonRecord): unknown {
    this.#document ??= new SchemaDocument(this.#root);
    return this.#document.resolve(reference, from);
  }

  matches(schema: unknown, value: unknown): boolean {
    return evaluate(this.compile(schema, ""), value, this).length === 0;
  }

  /** Compiles a schema at a path. A schema that refers to itself gets its node before the node is complete. */
  compile(schema: unknown, path: string): SchemaNode {
    if (schema === true) return ANY;
    if (schema === false) return NONE;
    if (!isRecord(schema)) return this.#ignoreSchema(path, "must be a schema, true or false");
    if (isLibrarySchema(schema)) {
      return this.#ignoreSchema(path, "must be a JSON Schema, not the schema of a library");
    }
    const known = this.#nodes.get(schema);
    if (known) return known;
    const node: SchemaNode = { checks: [] };
    this.#nodes.set(schema, node);
    for (const [name, keyword] of this.#getKeywords(schema)) {
      this.#compileKeyword(name, keyword, { node, schema, path });
    }
    return node;
  }

  *#getKeywords(schema: JsonRecord): Generator<readonly [string, Keyword]> {
    const isReferenceOnly = this.#isReferenceOnly && typeof schema["$ref"] === "string";
    for (const [name, keyword] of KEYWORDS) {
      if (schema[name] === undefined || (isReferenceOnly && name !== "$ref")) continue;
      if (name.startsWith("unevaluated")) this.#recordsMembers = true;
      yield [name, keyword];
    }
  }

  #compileKeyword(
    name: string,
    keyword: Keyword,
    { node, schema, path }: { node: SchemaNode; schema: JsonRecord; path: string },
  ): void {
    try {
      const check = keyword(schema[name], this.#createContext(schema, path));
      if (check) node.checks.push(check);
    } catch (thrown) {
      if (!(thrown instanceof KeywordError)) throw thrown;
      const { problem, message } = thrown;
      this.ignored.push({ path: `${path}/${name}`, problem, message });
    }
  }

  #createContext(schema: JsonRecord, path: string): KeywordContext {
    return {
      schema,
      compile: (subschema, keyword, ...keys) => {
        const subpath = [path, keyword, ...keys.map(escapeKey)].join("/");
        const isProperty = keyword === "properties" && isRecord(subschema);
        if (isProperty && subschema["default"] !== undefined) {
          this.defaults.push({ schema: subschema, path: subpath });
        }
        return this.compile(subschema, subpath);
      },
      compileReference: (reference) => this.#compileReference(reference, schema),
    };
  }

  #compileReference(reference: string, from: JsonRecord): SchemaNode {
    const target = this.resolve(reference, from);
    if (target !== undefined) return this.compile(target, reference.replace(/^#/, ""));
    throw reference.startsWith("#")
      ? new KeywordError("invalid", `refers to ${JSON.stringify(reference)}, which does not exist`)
      : new KeywordError("unsupported", `refers to another document: ${JSON.stringify(reference)}`);
  }

  /** Reports a part of a schema that is no schema, and accepts every value there. */
  #ignoreSchema(path: string, message: string): SchemaNode {
    this.ignored.push({ path, problem: "invalid", message });
    return ANY;
  }
}
