/**
 * Lists of tools that change.
 *
 * @module
 */

import { isJsonEqual } from "../../core/json_equal.ts";
import type { ReportProblem } from "../protocol/repair_message.ts";
import type { ServerTool } from "../protocol/server_lists.ts";

/** Options for {@linkcode mergeTools}. */
export interface MergeOptions {
  /** The previous list. */
  readonly known: readonly ServerTool[];
  readonly report: ReportProblem;
}

/** Sorts the listed tools by name. Of two with the same name the first is kept; one that is known stays the same object. */
export function mergeTools(
  listed: readonly ServerTool[],
  { known, report }: MergeOptions,
): readonly ServerTool[] {
  const knownByName = new Map(known.map((tool) => [tool.name, tool]));
  const tools = new Map<string, ServerTool>();
  for (const tool of listed) {
    if (tools.has(tool.name)) {
      report(`lists the tool ${JSON.stringify(tool.name)} twice`);
      continue;
    }
    const previous = knownByName.get(tool.name);
    tools.set(tool.name, previous && isJsonEqual(previous, tool) ? previous : tool);
  }
  return [...tools.values()].sort((left, right) => left.name < right.name ? -1 : 1);
}

/** Whether two lists have the same objects. */
export function isSameList(left: readonly object[], right: readonly object[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
