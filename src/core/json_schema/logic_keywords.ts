/**
 * The keywords that apply other schemas to the same value.
 *
 * @module
 */

import { expectList, type Keyword, KeywordError } from "./keyword.ts";

/**
 * Includes `$dynamicRef` and `$recursiveRef`, which differ from `$ref` only in schemas that several documents extend.
 */
const reference: Keyword = (value, { compileReference }) => {
  if (typeof value !== "string") throw new KeywordError("invalid", "must be a string");
  const node = compileReference(value);
  return (evaluation) => evaluation.apply(node);
};

const allOf: Keyword = (value, { compile }) => {
  const nodes = expectList(value).map((schema, index) => compile(schema, "allOf", index));
  return (evaluation) => {
    for (const node of nodes) evaluation.apply(node);
  };
};

const anyOf: Keyword = (value, { compile }) => {
  const nodes = expectList(value).map((schema, index) => compile(schema, "anyOf", index));
  return (evaluation) => {
    const results = nodes.map((node) => evaluation.test(node));
    if (results.some((errors) => errors.length === 0)) return;
    evaluation.reportAll(results.flat());
    evaluation.report("must match a schema in anyOf");
  };
};

const oneOf: Keyword = (value, { compile }) => {
  const nodes = expectList(value).map((schema, index) => compile(schema, "oneOf", index));
  return (evaluation) => {
    const results = nodes.map((node) => evaluation.test(node));
    const matches = results.filter((errors) => errors.length === 0).length;
    if (matches === 1) return;
    if (matches === 0) evaluation.reportAll(results.flat());
    evaluation.report(`must match exactly one schema in oneOf, not ${matches}`);
  };
};

const not: Keyword = (value, { compile }) => {
  const node = compile(value, "not");
  return (evaluation) => {
    if (evaluation.test(node).length === 0) evaluation.report("must not match the schema in not");
  };
};

/** The keyword `if`, with `then` and `else`. */
const condition: Keyword = (value, { schema, compile }) => {
  const node = compile(value, "if");
  const thenNode = schema["then"] === undefined ? undefined : compile(schema["then"], "then");
  const elseNode = schema["else"] === undefined ? undefined : compile(schema["else"], "else");
  return (evaluation) => {
    const branch = evaluation.test(node).length === 0 ? thenNode : elseNode;
    if (branch) evaluation.apply(branch);
  };
};

/** The keywords that apply other schemas to the same value. */
export const LOGIC_KEYWORDS: readonly (readonly [name: string, keyword: Keyword])[] = [
  ["$ref", reference],
  ["$dynamicRef", reference],
  ["$recursiveRef", reference],
  ["allOf", allOf],
  ["anyOf", anyOf],
  ["oneOf", oneOf],
  ["not", not],
  ["if", condition],
];
