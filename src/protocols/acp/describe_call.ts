/**
 * Tool calls as clients show them.
 *
 * @module
 */

import type { FileChange } from "../../core/diff/file_change.ts";
import type { JsonObject } from "../../core/json.ts";
import type {
  AcpLocation,
  AcpPlanEntry,
  AcpToolCallFields,
  AcpToolContent,
  AcpToolKind,
} from "./acp_update.ts";

/** A tool call. */
export interface DescribedCall {
  /** Name of the tool. */
  readonly name: string;
  /** The arguments; `{}` while they are written. */
  readonly arguments: JsonObject;
}

/** Describes the calls of some tools; `undefined` for others. */
export type DescribeCall = (
  call: DescribedCall,
) => Pick<AcpToolCallFields, "title" | "kind" | "locations"> | undefined;

const KINDS: Readonly<Record<string, AcpToolKind>> = {
  read_file: "read",
  list_directory: "read",
  search_files: "search",
  write_file: "edit",
  edit_file: "edit",
  bash: "execute",
  fetch_url: "fetch",
  todo: "think",
};

/** Describes a call by the names of the tool and of its first argument. */
export function describeCall({ name, arguments: args }: DescribedCall): {
  readonly title: string;
  readonly kind: AcpToolKind;
} {
  const [main] = Object.values(args);
  const [line = ""] = typeof main === "string" ? main.split("\n") : [];
  const title = line === "" ? name : `${name} ${line}`;
  return { title, kind: Object.hasOwn(KINDS, name) ? KINDS[name] ?? "other" : "other" };
}

/** Returns the changes of files; a deleted file becomes empty, since the protocol has no deletion. */
export function toDiffs(
  changes: readonly FileChange[],
  toPath: (path: string) => string,
): AcpToolContent[] {
  return changes.map(({ path, before, after }) => ({
    type: "diff",
    path: toPath(path),
    oldText: before,
    newText: after ?? "",
  }));
}

/** Returns the files of changes. */
export function toLocations(
  changes: readonly FileChange[],
  toPath: (path: string) => string,
): AcpLocation[] {
  return changes.map(({ path }) => ({ path: toPath(path) }));
}

const PLAN_STATUS = { pending: "pending", in_progress: "in_progress", done: "completed" } as const;

/** Returns the plan in the details of a result of the tool `todo`; `undefined` if there is none. */
export function toPlan(details: unknown): AcpPlanEntry[] | undefined {
  const { items } = (details ?? {}) as { readonly items?: unknown };
  if (!Array.isArray(items)) return undefined;
  return items.flatMap((item: { readonly text?: unknown; readonly status?: unknown } | null) => {
    const { text, status } = item ?? {};
    if (typeof text !== "string" || !isStatus(status)) return [];
    return [{ content: text, priority: "medium" as const, status: PLAN_STATUS[status] }];
  });
}

function isStatus(value: unknown): value is keyof typeof PLAN_STATUS {
  return typeof value === "string" && Object.hasOwn(PLAN_STATUS, value);
}
