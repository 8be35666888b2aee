/**
 * The keywords for arrays.
 *
 * @module
 */

import type { Check, Evaluation, SchemaNode } from "./evaluation.ts";
import { expectCount, expectList, formatCount, type Keyword } from "./keyword.ts";

const prefixItems: Keyword = (value, { compile }) => {
  const nodes = expectList(value).map((schema, index) => compile(schema, "prefixItems", index));
  return checkArray((items, evaluation) => applyToPrefix(nodes, items, evaluation));
};

/** Includes the lists of draft 7, which are `prefixItems` today. */
const items: Keyword = (value, { schema, compile }) => {
  if (Array.isArray(value)) {
    const nodes = value.map((item, index) => compile(item, "items", index));
    return checkArray((items, evaluation) => applyToPrefix(nodes, items, evaluation));
  }
  const { prefixItems } = schema;
  const start = Array.isArray(prefixItems) ? prefixItems.length : 0;
  return checkRest(compile(value, "items"), start);
};

/** The keyword of draft 7, which is `items` today. */
const additionalItems: Keyword = (value, { schema, compile }) => {
  const { items } = schema;
  return Array.isArray(items)
    ? checkRest(compile(value, "additionalItems"), items.length)
    : undefined;
};

const unevaluatedItems: Keyword = (value, { compile }) => {
  const node = compile(value, "unevaluatedItems");
  return checkArray((items, evaluation) => {
    for (const [index, item] of items.entries()) {
      if (!evaluation.isEvaluated(index)) evaluation.applyToMember(index, item, node);
    }
  });
};

/** Includes `minContains` and `maxContains`. */
const contains: Keyword = (value, { schema, compile }) => {
  const node = compile(value, "contains");
  const { minContains = 1, maxContains = Infinity } = schema;
  const min = expectCount(minContains);
  const max = expectCount(maxContains);
  return checkArray((items, evaluation) => {
    let count = 0;
    for (const [index, item] of items.entries()) {
      if (evaluation.testMember(index, item, node).length > 0) continue;
      evaluation.markEvaluated(index);
      count++;
    }
    if (count < min) {
      evaluation.report(`must contain at least ${formatCount(min, "matching item")}, not ${count}`);
    }
    if (count > max) {
      evaluation.report(`must contain at most ${formatCount(max, "matching item")}, not ${count}`);
    }
  });
};

const minItems: Keyword = (value) => {
  const limit = expectCount(value);
  return checkArray(({ length }, evaluation) => {
    if (length < limit) evaluation.report(`must have at least ${formatCount(limit, "item")}`);
  });
};

const maxItems: Keyword = (value) => {
  const limit = expectCount(value);
  return checkArray(({ length }, evaluation) => {
    if (length > limit) evaluation.report(`must have at most ${formatCount(limit, "item")}`);
  });
};

const uniqueItems: Keyword = (value) => {
  if (value !== true) return;
  return checkArray((items, evaluation) => {
    const indexes = new Map<string, number>();
    for (const [index, item] of items.entries()) {
      const text = evaluation.serialize(item);
      const first = indexes.get(text);
      if (first !== undefined) {
        return evaluation.report(`must be different from item ${first}`, index);
      }
      indexes.set(text, index);
    }
  });
};

/** The keywords for arrays, except `unevaluatedItems`. */
export const ARRAY_KEYWORDS: readonly (readonly [name: string, keyword: Keyword])[] = [
  ["minItems", minItems],
  ["maxItems", maxItems],
  ["uniqueItems", uniqueItems],
  ["prefixItems", prefixItems],
  ["items", items],
  ["additionalItems", additionalItems],
  ["contains", contains],
];

/** The keyword for the items that no other keyword evaluates. It comes after all of them. */
export const UNEVALUATED_ITEMS: readonly [name: string, keyword: Keyword] = [
  "unevaluatedItems",
  unevaluatedItems,
];

function checkArray(check: (items: readonly unknown[], evaluation: Evaluation) => void): Check {
  return (evaluation) => {
    if (Array.isArray(evaluation.value)) check(evaluation.value, evaluation);
  };
}

function applyToPrefix(
  nodes: readonly SchemaNode[],
  items: readonly unknown[],
  evaluation: Evaluation,
): void {
  for (const [index, node] of nodes.slice(0, items.length).entries()) {
    evaluation.applyToMember(index, items[index], node);
  }
}

/** Checks the items from an index. */
function checkRest(node: SchemaNode, start: number): Check {
  return checkArray((items, evaluation) => {
    for (let index = start; index < items.length; index++) {
      evaluation.applyToMember(index, items[index], node);
    }
  });
}
