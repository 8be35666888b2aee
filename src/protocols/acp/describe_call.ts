/**
 * Tool calls as clients show them.
 *
 * @module
 */

import type { FileChange } from "../../core/diff/file_change.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { truncateEnd } from "../../core/text/output_limit.ts";
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

/** Maximum length of the part of a title that a model writes; the arguments have the rest. */
const MAX_TITLE = 200;

/** Describes a call by the names of the tool and of its first argument, and by its path if its tool works on one file. */
export function describeCall({ name, arguments: args }: DescribedCall): {
  readonly title: string;
  readonly kind: AcpToolKind;
  readonly locations?: AcpLocation[];
} {
  const [main] = Object.values(args);
  const line = typeof main === "string" ? truncateEnd(main, MAX_TITLE).split("\n")[0] ?? "" : "";
  const rest = line === main || line === "" ? "" : " …";
  const title = line === "" ? name : `${name} ${line}${rest}`;
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] ?? "other" : "other";
  const { path, offset } = args;
  if (typeof path !== "string" || path === "" || !(kind === "read" || kind === "edit")) {
    return { title, kind };
  }
  const start = typeof offset === "number" && offset >= 1 && { line: Math.floor(offset) };
  return { title, kind, locations: [{ path, ...start }] };
}

/** A text that no title cuts off, and in which nothing is invisible. */
const SHORT_TEXT = /^[\x20-\x7e]{0,80}$/;

/**
 * Returns the arguments of a call about which the user is asked, unless its title has all of them: what a model hides behind
 * the first line of a command, or in another argument, would be approved unseen.
 */
export function toArgumentContents(
  title: string,
  args: Readonly<Record<string, unknown>>,
): AcpToolContent[] {
  const values = Object.values(args);
  const [main, ...others] = values;
  const isOneText = typeof main === "string" && others.length === 0;
  if (values.length === 0) return [];
  if (isOneText && SHORT_TEXT.test(main) && title.endsWith(main)) return [];
  const text = toFence(isOneText ? main : JSON.stringify(args, null, 2));
  return [{ type: "content", content: { type: "text", text } }];
}

/** Returns a text as a block of Markdown that it cannot end, with the code points of invisible characters. */
function toFence(text: string): string {
  const visible = text.replace(
    /[^\P{C}\n\t]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  const longest = Math.max(2, ...[...visible.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${visible}\n${fence}`;
}

/** Maximum length of a text of a diff; the client gets the result of the call instead of longer ones. */
const MAX_DIFF_LENGTH = 1_000_000;

/** Returns the changes of files; a deleted file becomes empty, since the protocol has no deletion. */
export function toDiffs(
  changes: readonly FileChange[],
  toPath: (path: string) => string,
): AcpToolContent[] {
  return changes.filter(isShort).map(({ path, before, after }) => ({
    type: "diff",
    path: toPath(path),
    oldText: before,
    newText: after ?? "",
  }));
}

function isShort({ before, after }: FileChange): boolean {
  return Math.max(before?.length ?? 0, after?.length ?? 0) <= MAX_DIFF_LENGTH;
}

/** Describes calls as a client shows them. */
export interface CallDescriber {
  /** Describes the calls of some tools. Default: all by their names. */
  readonly describeCall?: DescribeCall | undefined;
  /** Returns an absolute path. */
  readonly toPath: (path: string) => string;
}

/** Returns title, kind and files of a call. */
export function describeFor(
  { describeCall: describe, toPath }: CallDescriber,
  call: DescribedCall,
  changes: readonly FileChange[] = [],
): Pick<AcpToolCallFields, "title" | "kind" | "locations"> & { readonly title: string } {
  const own = describe?.(call);
  const { locations = [], title, ...described } = { ...describeCall(call), ...own };
  const files = changes.length > 0 && !own?.locations ? changes : locations;
  const absolute = files.map((file) => ({
    path: toPath(file.path),
    ...("line" in file && { line: file.line }),
  }));
  return {
    title: title ?? call.name,
    ...described,
    ...(absolute.length > 0 && { locations: absolute }),
  };
}

/** Beginning of the names of the tools of MCP servers, whose details are the result of the server. */
const SERVER_PREFIX = "mcp__";

/**
 * Returns the change of a file in the details of a result; `undefined` if there is none. The details of a server would
 * show a change that nothing has made.
 */
export function toChange(toolName: string, details: unknown): FileChange | undefined {
  if (toolName.startsWith(SERVER_PREFIX)) return undefined;
  if (!isJsonObject(details) || !isJsonObject(details.change)) return undefined;
  const { path, before, after } = details.change;
  if (typeof path !== "string" || !isContent(before) || !isContent(after)) return undefined;
  return { path, before, after };
}

function isContent(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

/** Returns the id of the terminal in the details of a result; `undefined` if there is none. */
export function toTerminalId(details: unknown): string | undefined {
  const id = isJsonObject(details) ? details.terminalId : undefined;
  return typeof id === "string" ? id : undefined;
}

const PLAN_STATUS = { pending: "pending", in_progress: "in_progress", done: "completed" } as const;

/** Returns the plan in the details of a result of the tool `todo`; `undefined` if it is that of another tool. */
export function toPlan(toolName: string, details: unknown): AcpPlanEntry[] | undefined {
  if (toolName !== "todo") return undefined;
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
