/**
 * Finds cycles in the imports of files and of directories.
 *
 * @module
 */

import type { ImportingFile } from "./imports.ts";

/** Nodes and the nodes that each one imports. */
type ImportGraph = ReadonlyMap<string, Iterable<string>>;

/** Returns one shortest cycle per group of files that import each other, as `a.ts → b.ts → a.ts`. */
export function findImportCycles(files: readonly ImportingFile[]): string[] {
  const graph = new Map(files.map((file) => [file.path, file.internal]));
  return findCyclicGroups(graph).map((group) => findShortestCycle(group, graph).join(" → "));
}

/** Returns the groups of directories whose files import each other, each sorted. */
export function findDirectoryCycles(files: readonly ImportingFile[]): string[][] {
  const graph = new Map<string, Set<string>>();
  for (const { path, internal } of files) {
    const from = dirname(path);
    const imported = graph.get(from) ?? new Set();
    graph.set(from, imported);
    internal.map(dirname).filter((to) => to !== from).forEach((to) => imported.add(to));
  }
  return findCyclicGroups(graph);
}

function dirname(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
}

/** Returns the strongly connected components of more than one node, or of one that imports itself (Tarjan's algorithm). */
function findCyclicGroups(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];

  function visit(node: string): number {
    const index = order.size;
    let low = index;
    order.set(node, index);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === index) closeGroup(node);
    return low;
  }

  function closeGroup(node: string): void {
    const group = stack.splice(stack.indexOf(node));
    const importsItself = Array.from(graph.get(node) ?? []).includes(node);
    if (group.length > 1 || importsItself) groups.push(group.toSorted());
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return groups.toSorted((a, b) => String(a).localeCompare(String(b)));
}

/** Searches breadth first from the first node of a group back to it. */
function findShortestCycle([start = "", ...others]: string[], graph: ImportGraph): string[] {
  const isInGroup = new Set([start, ...others]);
  const paths = [[start]];
  for (const path of paths) {
    for (const next of graph.get(path.at(-1) ?? start) ?? []) {
      if (next === start) return [...path, start];
      if (isInGroup.delete(next)) paths.push([...path, next]);
    }
  }
  return [start];
}
