/**
 * The report of the start of a run.
 *
 * @module
 */

import type { Agent, JsonSchema } from "../../../mod.ts";
import { extractText } from "../../../src/core/messages/content.ts";
import { ajvValidator, formatIgnored } from "../../../src/core/schemas/schema.ts";
import { VERSION } from "../../host/version.ts";
import { toOneLine } from "../../render/plain_text.ts";
import type { Reporter } from "../../render/reporter.ts";
import { truncateToWidth } from "../../render/text_width.ts";
import type { RunSession } from "../../sessions/run_session.ts";
import type { AgentSetup } from "../agent/setup_agent.ts";
import type { ProjectRunSettings } from "../settings/settings.ts";
import { createConfinementWarning } from "../tools/confinement_warning.ts";
import { toRunSandbox } from "../tools/run_sandbox.ts";

/** Options for `reportStart()`. */
export interface StartReportOptions
  extends Pick<ProjectRunSettings, "cwd" | "net" | "sandbox" | "project"> {
  /** The session of the run; `undefined` if it is not saved. */
  readonly session?: RunSession | undefined;
  /** The agent and its tools. */
  readonly setup: Pick<
    AgentSetup,
    "agent" | "approvalMode" | "isInteractive" | "describeSandbox" | "planMode" | "warnings"
  >;
  /** The schema of the answer. Default: the answer is text. */
  readonly schema?: JsonSchema | undefined;
  /** The messages of the session that the model gets with the prompt. Default: none. */
  readonly waiting?: Agent["queued"] | undefined;
}

/** Number of waiting messages that are named, and the columns of each. */
const NAMED = { messages: 3, columns: 40 };

/** Reports the properties of a run, and warns if a tool runs commands that are not confined. */
export async function reportStart(
  reporter: Pick<Reporter, "onRunStart" | "onNotice">,
  { setup, session, waiting, schema, cwd, net, sandbox: mode, project }: StartReportOptions,
): Promise<void> {
  const { agent, isInteractive } = setup;
  const { model, tools } = agent.state;
  const names = tools.map(({ name }) => name);
  const [report, recorded] = await Promise.all([setup.describeSandbox(), session?.describe()]);
  await reporter.onRunStart({
    version: VERSION,
    cwd,
    model,
    tools: names,
    approvalMode: setup.planMode?.isActive ? "plan" : setup.approvalMode,
    isInteractive,
    net,
    sandbox: toRunSandbox(mode, report),
    sessionId: recorded?.id ?? null,
    project: { root: project.root, loaded: project.loaded, ignored: project.ignored },
  });
  const warnings = [
    ...project.problems,
    ...recorded?.warnings ?? [],
    ...listWaiting(waiting),
    ...setup.warnings,
    ...await listUncheckedKeywords(schema),
  ];
  for (const warning of warnings) await reporter.onNotice(`warning: ${warning}`);
  const warning = names.includes("bash") ? createConfinementWarning(mode, report) : undefined;
  if (warning !== undefined) await reporter.onNotice(warning);
}

/** Returns a warning that names the keywords of a schema which no answer is checked with, if there are any. */
async function listUncheckedKeywords(schema: JsonSchema | undefined): Promise<string[]> {
  if (!schema) return [];
  try {
    const { ignored = [] } = await ajvValidator(schema);
    return ignored.length === 0
      ? []
      : [`--json-schema: a part of the schema is not checked: ${formatIgnored(ignored)}`];
  } catch {
    // The run reports a schema that cannot be used.
    return [];
  }
}

/** Returns a warning that names the messages which an earlier run has not read, if there are any. */
function listWaiting({ steering, followUp }: Agent["queued"] = { steering: [], followUp: [] }) {
  const messages = [...steering, ...followUp].map(({ message }) => message);
  if (messages.length === 0) return [];
  const texts = messages.slice(0, NAMED.messages).map((message) => {
    const text = message.role === "user" ? extractText(message.content) : "";
    return JSON.stringify(truncateToWidth(toOneLine(text), NAMED.columns));
  });
  const others = messages.length - texts.length;
  const list = [...texts, ...(others > 0 ? [`${others} more`] : [])].join(", ");
  return [`the model also gets what waited in the session: ${list}`];
}
