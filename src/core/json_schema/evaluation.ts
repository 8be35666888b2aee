/**
 * Evaluates a value against compiled schemas.
 *
 * @module
 */

import type { Pattern } from "../pattern/pattern.ts";
import { toCanonicalText } from "./json_object.ts";

/** A violation of a schema. */
export interface ValidationError {
  /** JSON Pointer to the invalid value; empty for the root. */
  readonly path: string;
  /** The expectation that failed, such as `"must be string"`. */
  readonly message: string;
}

/** A compiled schema: the checks of its keywords. */
export interface SchemaNode {
  readonly checks: Check[];
}

/** Checks a value against one keyword, and reports its violations. */
export type Check = (evaluation: Evaluation) => void;

/** Maximum number of reported errors; the model corrects the first ones first. */
const MAX_ERRORS = 100;

/**
 * Maximum number of steps of a validation, each about 5 ns. References can multiply the work: thirty definitions that
 * each refer twice to the next one apply a billion schemas.
 */
const MAX_STEPS = 50_000_000;

/** Steps of the application of a schema. */
const STEPS_PER_SCHEMA = 50;

/** Steps of the serialization of one character. */
const STEPS_PER_CHARACTER = 10;

/** Position of a value in the root value. */
interface Position {
  readonly parent: Position | undefined;
  readonly key: string | number;
}

/** The state of a validation. */
interface Run {
  /** Whether evaluated members are recorded, for `unevaluatedProperties` and `unevaluatedItems`. */
  readonly recordsMembers: boolean;
  steps: number;
}

/** Returns the violations of a schema by a value. */
export function evaluate(
  node: SchemaNode,
  value: unknown,
  { recordsMembers }: { readonly recordsMembers: boolean },
): readonly ValidationError[] {
  const run: Run = { recordsMembers, steps: 0 };
  const errors: ValidationError[] = [];
  try {
    new Evaluation(value, undefined, { run, errors }).check(node);
    if (run.steps <= MAX_STEPS) return errors;
  } catch (thrown) {
    // The stack overflows for a schema that refers to itself without end.
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  return [{ path: "", message: "is too complex to be validated" }];
}

/** The evaluation of one value against one schema. */
export class Evaluation {
  /** The value. */
  readonly value: unknown;
  readonly #position: Position | undefined;
  readonly #run: Run;
  readonly #errors: ValidationError[];
  #evaluatedMembers: Set<string | number> | undefined;

  constructor(
    value: unknown,
    position: Position | undefined,
    { run, errors }: { readonly run: Run; readonly errors: ValidationError[] },
  ) {
    this.value = value;
    this.#position = position;
    this.#run = run;
    this.#errors = errors;
  }

  /** Runs the checks of a schema. */
  check({ checks }: SchemaNode): void {
    if (!this.#takeSteps(STEPS_PER_SCHEMA)) return;
    for (const check of checks) check(this);
  }

  /** Reports a violation by the value, or by its member `key`. */
  report(message: string, key?: string | number): void {
    if (this.#errors.length >= MAX_ERRORS) return;
    const position = key === undefined ? this.#position : { parent: this.#position, key };
    this.#errors.push({ path: toPointer(position), message });
  }

  /** Reports errors of another evaluation. */
  reportAll(errors: readonly ValidationError[]): void {
    this.#errors.push(...errors.slice(0, MAX_ERRORS - this.#errors.length));
  }

  /** Applies another schema to the value, and reports its violations. */
  apply(node: SchemaNode): void {
    this.reportAll(this.test(node));
  }

  /** Applies another schema to the value, and returns its violations. */
  test(node: SchemaNode): readonly ValidationError[] {
    const errors: ValidationError[] = [];
    const inner = new Evaluation(this.value, this.#position, { run: this.#run, errors });
    inner.check(node);
    if (errors.length === 0) inner.#evaluatedMembers?.forEach((key) => this.markEvaluated(key));
    return errors;
  }

  /** Applies a schema to a member of the value, and reports its violations. */
  applyToMember(key: string | number, member: unknown, node: SchemaNode): void {
    this.markEvaluated(key);
    this.#createMember(key, member, this.#errors).check(node);
  }

  /** Applies a schema to a member of the value, and returns its violations. */
  testMember(key: string | number, member: unknown, node: SchemaNode): readonly ValidationError[] {
    const errors: ValidationError[] = [];
    this.#createMember(key, member, errors).check(node);
    return errors;
  }

  /** Whether a pattern matches a text. */
  matches(pattern: Pattern, text: string): boolean {
    return this.#takeSteps(pattern.countSteps(text)) && pattern.test(text);
  }

  /** Returns the canonical text of a value. */
  serialize(value: unknown): string {
    const text = toCanonicalText(value);
    this.#takeSteps(text.length * STEPS_PER_CHARACTER);
    return text;
  }

  /** Records that a schema was applied to a member. */
  markEvaluated(key: string | number): void {
    if (this.#run.recordsMembers) (this.#evaluatedMembers ??= new Set()).add(key);
  }

  /** Whether a schema was applied to a member. */
  isEvaluated(key: string | number): boolean {
    return this.#evaluatedMembers?.has(key) ?? false;
  }

  /** Counts steps; returns `false` above the limit, where the result of the validation is known. */
  #takeSteps(count: number): boolean {
    this.#run.steps += count;
    return this.#run.steps <= MAX_STEPS;
  }

  #createMember(key: string | number, member: unknown, errors: ValidationError[]): Evaluation {
    return new Evaluation(member, { parent: this.#position, key }, { run: this.#run, errors });
  }
}

/** Returns a JSON Pointer, with `~` and `/` escaped (RFC 6901). */
function toPointer(position: Position | undefined): string {
  let pointer = "";
  for (let step = position; step; step = step.parent) {
    pointer = `/${escapeKey(step.key)}${pointer}`;
  }
  return pointer;
}

/** Escapes a key for a JSON Pointer. */
export function escapeKey(key: string | number): string {
  return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
}
