/**
 * The parts of a conversation and their connections.
 *
 * @module
 */

import type { Agent, AgentEvent, PromptInput } from "../../mod.ts";
import { getErrorMessage } from "../../src/core/errors/errors.ts";
import type { Session } from "../../src/memory/mod.ts";
import type { ApprovalPrompt, ChangeLog } from "../../src/tools/mod.ts";
import type { StartedHooks } from "../hooks/started_hooks.ts";
import { CliError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { createStyle } from "../render/theme/create_style.ts";
import type { OpenedAgent } from "../run/agent/open_agent.ts";
import { checkSessionServer } from "../run/model/session_connection.ts";
import { attachFiles } from "../run/prompt/attach_files.ts";
import type { ConfiguredRun } from "../run/settings/configure_run.ts";
import type { ProjectRunSettings } from "../run/settings/settings.ts";
import { createTurnId } from "./command/change_turn.ts";
import type { CommandContext, OutputSettings } from "./command/command_context.ts";
import type { ConversationCommand } from "./command/conversation_command.ts";
import { Conversation } from "./conversation.ts";
import { ConversationCompleter } from "./core/conversation_completer.ts";
import { ConversationOutput } from "./core/conversation_output.ts";
import { ConversationRuns, type EndedRun } from "./core/conversation_runs.ts";
import { ConversationSession } from "./core/conversation_session.ts";
import type { ConversationSignals } from "./core/conversation_signals.ts";
import { ConversationStatus } from "./core/conversation_status.ts";
import { ExternalEditor } from "./core/external_editor.ts";
import { formatHistory } from "./core/history_lines.ts";
import { createLiveRows } from "./core/live_rows.ts";
import { readOtherSpending } from "./core/other_spending.ts";
import { RecordedConversation } from "./core/recorded_conversation.ts";
import { type ConversationRenderers, createRenderers } from "./core/renderers.ts";
import { formatRunEnd } from "./core/run_end_lines.ts";
import { SelectedCall } from "./core/selected_call.ts";
import type { SessionChanges } from "./core/session_changes.ts";
import { ShellCommands } from "./core/shell_command.ts";
import { findImagePaths } from "./input/image_paths.ts";
import type { ConversationView } from "./view/conversation_view.ts";
import { toMessage } from "./view/lines.ts";
import { printWarnings } from "./view/print_warnings.ts";

/** The environment of a conversation. */
export interface ConversationEnvironment {
  /** The settings of its runs. */
  readonly settings: ProjectRunSettings;
  /** Options, directories and project. */
  readonly configured: ConfiguredRun;
  /** Environment, clock and network; all output is on standard output. */
  readonly host: Host;
  /** The terminal. */
  readonly view: ConversationView;
  /** The hooks. */
  readonly hooks: Pick<StartedHooks, "submit">;
  /** The agent and its session. */
  readonly opened: OpenedAgent;
  /** The stored file changes. */
  readonly changes: Pick<SessionChanges, "forgetUnsaved">;
  /** The file changes by prompt. */
  readonly changeLog: ChangeLog;
  /** Separates Ctrl+C from the signals that end the program. */
  readonly signals: ConversationSignals;
  /** Receives the signals that end the program. */
  readonly interrupt: Pick<InterruptHandler, "signal" | "exitCode">;
}

/** The parts of a conversation. */
export interface ConversationParts {
  /** Reads what the user types. */
  readonly conversation: Conversation;
  /** Shows an event of the agent. */
  readonly onEvent: (event: AgentEvent) => Promise<void>;
  /** The session. */
  readonly session: ConversationSession;
  /** The user's editor. */
  readonly editor: ExternalEditor;
  /** The parts that commands use. */
  readonly context: CommandContext;
  /** The status. */
  readonly status: ConversationStatus;
  /** Asks about tool calls. */
  readonly ask: ApprovalPrompt;
}

/** Creates the parts of a conversation. */
export async function createParts(
  environment: ConversationEnvironment,
): Promise<ConversationParts> {
  const { view, opened, interrupt } = environment;
  const { controls } = opened.setup;
  const shown = createShownParts(environment);
  await shown.restore(opened.session?.recording?.session);
  const { output, selection, runs, status } = shown;
  const session = await createSession(environment, shown);
  const editor = createEditor(environment);
  let commands: Promise<readonly ConversationCommand[]> | undefined;
  const loadCommands = () => commands ??= importCommands(environment);
  const context = createContext(environment, {
    ...shown,
    session,
    editor,
    loadCommands,
    leave: (exitCode) => conversation.leave(exitCode),
  });
  const { root, files } = controls.tools.sandbox;
  view.setCompleter(new ConversationCompleter({ loadCommands, context, files, root }));
  const shell = new ShellCommands({
    shell: controls.tools.shell,
    view,
    onOutput: (line) => output.setActivity({ label: line }),
  });
  const conversation: Conversation = new Conversation({
    context,
    output,
    selection,
    runShell: (command, signal) => shell.run(command, signal),
    loadCommands,
    signal: interrupt.signal,
    getExitCode: () => interrupt.exitCode,
  });
  const { formatQuestion } = shown.renderers;
  const ask = createLatePrompt(environment, {
    output,
    editor,
    getAgent: () => runs.agent,
    formatChanges: view.display.isPlain ? undefined : formatQuestion,
  });
  const onEvent = async (event: AgentEvent) => {
    await output.onEvent(event);
    if (event.type === "agent_end") return await session.reportFailure(event.abortReason);
    if (event.type !== "turn_end") return;
    await status.updateGauge();
    await session.reportProblems();
  };
  return { conversation, onEvent, session, editor, context, status, ask };
}

/** The parts that show what the agent does. */
interface ShownParts {
  /** Restores the record of a session. */
  readonly restore: (session: Session | undefined) => Promise<void>;
  readonly record: RecordedConversation;
  readonly renderers: ConversationRenderers;
  readonly output: ConversationOutput;
  readonly outputSettings: OutputSettings;
  readonly selection: SelectedCall;
  readonly runs: ConversationRuns;
  readonly status: ConversationStatus;
}

function createShownParts(environment: ConversationEnvironment): ShownParts {
  const { settings: { verbosity, baseUrl }, host: { now }, view, opened, changeLog } = environment;
  const { agent, planMode } = opened.setup;
  const outputSettings: OutputSettings = {
    expandsTools: verbosity === "verbose",
    hidesThinking: false,
    diffLayout: "unified",
  };
  const findTool = (name: string) => agent.state.tools.find((tool) => tool.name === name);
  const record = new RecordedConversation({ now, findTool });
  const renderers = createRenderers({ view, settings: outputSettings, now });
  const output: ConversationOutput = new ConversationOutput({
    view,
    record,
    renderers,
    settings: outputSettings,
    isPlanning: () => planMode?.isActive ?? false,
    takeTypedText(id) {
      const typed = runs.takeTypedText(id);
      // It is a prompt for /rewind. The message before it may be of the same millisecond.
      if (typed !== undefined) changeLog.beginTurn(createTurnId("prompt", Date.now() + 1));
      return typed;
    },
    baseUrl,
    now,
  });
  const onChange = () => view.redraw();
  const status = new ConversationStatus({ setup: opened.setup, record, output, now, onChange });
  const runs: ConversationRuns = createRuns(environment, { record, output, status });
  const selection = new SelectedCall({ record, renderers, view });
  const isRunning = () => runs.isRunning;
  const rows = { view, output, record, selection, queue: runs, status, isRunning, now };
  view.setLiveSource((columns) => createLiveRows(columns, rows));
  const restore = async (session: Session | undefined) => {
    record.restore(agent.state.messages, await readOtherSpending(session));
    runs.restoreQueued();
  };
  return { restore, record, renderers, output, outputSettings, selection, runs, status };
}

function createRuns(
  { settings: { cwd, baseUrl, providers, maxCost }, host, view, hooks, opened, changeLog }:
    ConversationEnvironment,
  { record, output, status }: Pick<ShownParts, "record" | "output" | "status">,
): ConversationRuns {
  const { now, env } = host;
  let label = "";
  return new ConversationRuns({
    agent: opened.setup.agent,
    now,
    async createInput(text, signal): Promise<PromptInput> {
      const images = findImagePaths(text, env("HOME"));
      const onWarning = (warning: string) => printWarnings(view, [warning]);
      const input = await attachFiles(text, { cwd, images, typed: text, signal, onWarning });
      return await hooks.submit(input, signal);
    },
    prepareInput: (input, signal) => hooks.submit(input, signal),
    onEvent: (event) => output.onEvent(event),
    onStart(text) {
      label = text;
      changeLog.beginTurn(createTurnId("prompt", Date.now()));
    },
    onTask: () => changeLog.beginTurn(createTurnId("task", Date.now())),
    onDelayedStart: (text) => view.echo(text),
    untilRecorded: () => opened.setup.controls.tools.untilRecorded(),
    async onEnd(end: EndedRun) {
      const { turns, attempts } = output;
      const { result, durationMs } = end;
      record.addPrompt({ label, outcome: result, durationMs });
      await view.print(
        formatRunEnd(end, { turns, attempts, baseUrl, providers, maxCost, env, view }),
      );
      view.notify({ type: "ended", text: "swink has finished", durationMs });
    },
    async onError(error, text) {
      const advice = error instanceof CliError ? error.advice : "";
      await output.printError(getErrorMessage(error), advice);
      if (text !== undefined) view.setDraft(text);
    },
    onAbort: () => view.print(toMessage("warning", "aborted", view)),
    onActivity({ isActive, label }) {
      status.setRunning(isActive);
      if (!isActive) status.refreshGauge();
      output.setActivity(label === undefined ? undefined : { label });
    },
  });
}

async function createSession(
  { settings: { cwd, providers }, configured: { directories }, host, view, opened, changes }:
    ConversationEnvironment,
  { restore, status }: Pick<ShownParts, "restore" | "status">,
): Promise<ConversationSession> {
  return new ConversationSession({
    setup: opened.setup,
    opened: opened.session,
    cwd: await Deno.realPath(cwd),
    directories,
    now: host.now,
    checkSession: (session) => checkSessionServer(session, { ...opened.setup, providers }, host),
    async onSwitched(session) {
      changes.forgetUnsaved();
      await restore(session);
      status.refreshGauge();
    },
    onWarnings: (warnings) => printWarnings(view, warnings),
  });
}

function createEditor(
  { view, signals, interrupt: { signal }, host: { env }, settings: { cwd } }:
    ConversationEnvironment,
): ExternalEditor {
  const lend: ConversationView["lend"] = (use) =>
    view.lend((lent) => signals.ignoreDuring(() => use(lent)));
  return new ExternalEditor({ view: { lend }, signal, env, cwd });
}

interface ContextParts extends ShownParts {
  readonly session: ConversationSession;
  readonly editor: ExternalEditor;
  readonly loadCommands: () => Promise<readonly ConversationCommand[]>;
  readonly leave: CommandContext["leave"];
}

function createContext(
  environment: ConversationEnvironment,
  { record, renderers, outputSettings, runs, session, editor, loadCommands, leave }: ContextParts,
): CommandContext {
  const { settings, host, view, opened: { setup }, configured, changeLog } = environment;
  return {
    view,
    host,
    settings,
    directories: configured.directories,
    setup,
    runs,
    queue: runs,
    sessions: session,
    record,
    output: outputSettings,
    changes: changeLog,
    editor,
    leave,
    listCommands: loadCommands,
    async printHistory() {
      const { formatEndedCall } = renderers;
      const options = { columns: view.columns, display: view.display, formatEndedCall };
      await view.print(formatHistory(setup.agent.state.messages, options));
    },
    async printCall(call) {
      await view.print(await renderers.formatExpandedCall(call));
    },
  };
}

async function importCommands(
  { configured: { directories, project }, view }: ConversationEnvironment,
): Promise<readonly ConversationCommand[]> {
  const { loadCommands } = await importLate<typeof import("./commands/load_commands.ts")>(
    "./commands/load_commands.ts",
    import.meta.url,
  );
  const onProblem = (problem: string) => void printWarnings(view, [problem]);
  return await loadCommands({ directories, project, onProblem });
}

interface ApprovalParts extends Pick<ShownParts, "output"> {
  readonly editor: ExternalEditor;
  /** Returns the agent whose calls are approved. */
  readonly getAgent: () => Agent;
  /** Formats changes of files. Default: unified diffs. */
  readonly formatChanges: ConversationRenderers["formatQuestion"] | undefined;
}

/** Creates the prompt for tool calls, whose code is loaded for the first question. */
function createLatePrompt(
  { view, host, settings: { project }, opened: { setup } }: ConversationEnvironment,
  { output, editor, getAgent, formatChanges }: ApprovalParts,
): ApprovalPrompt {
  let prompt: ApprovalPrompt | undefined;
  return async (request) => {
    const { createApprovalPrompt } = await importLate<
      typeof import("./approval/ask_approval.ts")
    >("./approval/ask_approval.ts", import.meta.url);
    const { agent, controls: { gate, tools } } = setup;
    prompt ??= createApprovalPrompt({
      view,
      tools: agent.state.tools,
      get style() {
        return createStyle(view.display);
      },
      getMessages: () => getAgent().state.messages,
      explain: (call) => gate.explain(call),
      sandbox: tools.sandbox,
      project,
      host,
      formatChanges,
      onAsked: (toolCallId) => output.markReviewed(toolCallId),
      async editText(text, extension) {
        const edited = await editor.editText(text, extension);
        return edited === text.trimEnd() ? undefined : edited;
      },
    });
    return await prompt(request);
  };
}
