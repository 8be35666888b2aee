/**
 * The first line of a run: model, directory and permissions.
 *
 * @module
 */

import { PLAN_PATH } from "../host/plan_path.ts";
import { describeNet } from "./describe_net.ts";
import { toPlainText } from "./plain_text.ts";
import type { RunSandbox, RunStart } from "./reporter.ts";
import { getTextWidth, truncateToWidth } from "./text_width.ts";

/** Options for `formatHeader()`. */
export interface HeaderOptions {
  /** Home directory, which is abbreviated. */
  readonly home: string | undefined;
  /** Maximum columns of a row. */
  readonly columns: number;
}

/**
 * Formats the header as rows, such as
 * `anthropic/claude-sonnet-5-5 · ~/project · asks first · net off · sandbox Landlock+seccomp`.
 */
export function formatHeader(
  { model, cwd, approvalMode, isInteractive, net, sandbox, project }: RunStart,
  { home, columns }: HeaderOptions,
): string[] {
  const level = model.thinkingLevel === "off" ? "" : `:${model.thinkingLevel}`;
  const fields = [
    `${model.provider}/${model.modelId}${level}`,
    shortenPath(cwd, home),
    describeApproval(approvalMode, isInteractive),
    `net ${describeNet(net, sandbox)}`,
    `sandbox ${describeSandbox(sandbox)}`,
    ...(project.loaded.length > 0 ? [project.loaded.join(", ")] : []),
    ...(project.ignored.length > 0 ? [`not loaded (--trust): ${project.ignored.join(", ")}`] : []),
  ];
  const rows: string[] = [];
  for (const field of fields.map((text) => toPlainText(text).replaceAll("\n", " "))) {
    const last = rows.at(-1);
    const longer = last === undefined ? field : `${last} · ${field}`;
    if (last !== undefined && getTextWidth(longer) <= columns) rows[rows.length - 1] = longer;
    else rows.push(truncateToWidth(field, columns));
  }
  return rows;
}

function describeApproval(mode: string, isInteractive: boolean): string {
  if (mode === "bypassed") return "approves all";
  if (mode === "plan") return `plan mode: ${PLAN_PATH}`;
  return isInteractive ? "asks first" : "refuses what needs approval";
}

function describeSandbox({ status, mechanisms }: RunSandbox): string {
  switch (status) {
    case "confined":
      return mechanisms.join("+");
    case "partly_confined":
      return `${mechanisms.join("+")} (incomplete)`;
    case "unconfined":
      return "none";
    case "off":
      return "off";
  }
}

function shortenPath(path: string, home = ""): string {
  if (home === "" || home === "/") return path;
  if (path === home) return "~";
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
