/**
 * Comparison of the arguments of a tool call with an expectation.
 *
 * @module
 */

import type { JsonObject } from "../../core/json/json.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import { runCompiled } from "../../core/schemas/compile_schema.ts";
import { compileExpectedSchema, compilePattern } from "../case/compile_expectation.ts";
import type { ArgumentMatcher, ExpectedCall } from "../case/eval_case.ts";

/** Whether a call has the expected tool and arguments. */
export type MatchCall = (
  call: { readonly tool: string; readonly arguments: JsonObject },
) => boolean;

/**
 * Compiles the expectation of a call.
 *
 * @throws {Error} If a pattern or a schema is invalid.
 */
export async function compileExpectedCall(expected: ExpectedCall): Promise<MatchCall> {
  const matchers = await compileMatchers(expected);
  return (call) => {
    if (call.tool !== expected.tool) return false;
    if (!matchers) return true;
    return Object.keys(call.arguments).every((name) => matchers.has(name)) &&
      [...matchers].every(([name, match]) =>
        match(Object.hasOwn(call.arguments, name) ? call.arguments[name] : undefined)
      );
  };
}

/** Accepts a value; that of a missing argument is `undefined`. */
type MatchValue = (value: unknown) => boolean;

/** Returns a matcher for each expected argument; `undefined` if only names of tools are compared. */
async function compileMatchers(
  { arguments: args, matchers }: ExpectedCall,
): Promise<Map<string, MatchValue> | undefined> {
  if (!args && !matchers) return undefined;
  const compiled = new Map<string, MatchValue>();
  for (const [name, value] of Object.entries(args ?? {})) {
    compiled.set(name, await compileMatcher({ type: "equals", value }));
  }
  for (const [name, matcher] of Object.entries(matchers ?? {})) {
    compiled.set(name, await compileMatcher(matcher));
  }
  return compiled;
}

async function compileMatcher(matcher: ArgumentMatcher): Promise<MatchValue> {
  switch (matcher.type) {
    case "equals":
      return (value) => value !== undefined && isJsonEqual(value, matcher.value);
    case "contains":
      return (value) => value !== undefined && toText(value).includes(matcher.text);
    case "regex": {
      const pattern = await compilePattern(matcher.pattern);
      return (value) => value !== undefined && pattern.test(toText(value));
    }
    case "schema": {
      const compiled = await compileExpectedSchema(matcher.schema);
      return (value) => value !== undefined && runCompiled(compiled, value).length === 0;
    }
    case "ignore":
      return () => true;
  }
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}
