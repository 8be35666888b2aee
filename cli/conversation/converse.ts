/**
 * Opens the parts of a conversation, and runs it until the user leaves.
 *
 * @module
 */

import type { Agent } from "../../mod.ts";
import type { ApprovalPrompt } from "../../src/tools/mod.ts";
import { ChangeLog } from "../../src/tools/changes/change_log.ts";
import { getErrorMessage } from "../../src/core/errors.ts";
import { CliError } from "../host/cli_error.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { type StartedHooks, startHooks } from "../hooks/start_hooks.ts";
import type { ConfiguredRun } from "../run/configure_run.ts";
import { openConnection } from "../run/model_connection.ts";
import { loadSessions, openAgent, type OpenedAgent } from "../run/open_agent.ts";
import { attachFiles } from "../run/run_command.ts";
import type { RunDependencies } from "../run/run_prompt.ts";
import type { ProjectRunSettings } from "../run/settings.ts";
import type { AgentSetup } from "../run/setup_agent.ts";
import { getStyle } from "../render/style.ts";
import type { CommandContext, OutputSettings } from "./command/context.ts";
import type { ConversationCommand } from "./command/definition.ts";
import { Conversation } from "./conversation.ts";
import { ConversationOutput } from "./core/conversation_output.ts";
import { ConversationRuns } from "./core/conversation_runs.ts";
import { ConversationSession } from "./core/conversation_session.ts";
import type { ConversationSignals } from "./core/conversation_signals.ts";
import { ExternalEditor } from "./core/external_editor.ts";
import { formatHistory } from "./core/history_lines.ts";
import { RecordedConversation } from "./core/recorded_conversation.ts";
import { createRenderers } from "./core/renderers.ts";
import { formatRunEnd } from "./core/run_end_lines.ts";
import { SessionChanges } from "./core/session_changes.ts";
import { ShellCommands } from "./core/shell_command.ts";
import { openView } from "./open_view.ts";
import { reportConversationStart } from "./report_start.ts";
import type { ConversationView } from "./view/conversation_view.ts";
import { toLines } from "./view/lines.ts";

/** Dependencies of `converse()`. */
export interface ConverseDependencies extends RunDependencies {
  /** Separates Ctrl+C from the signals that end the program. */
  readonly signals: ConversationSignals;
  /** Options and directories. */
  readonly configured: ConfiguredRun;
}

/** Runs a conversation. */
export async function converse(
  settings: ProjectRunSettings,
  { prompt, onAgent, ...dependencies }: ConverseDependencies,
): Promise<ExitCode> {
  const { interrupt, signals, configured: { directories } } = dependencies;
  const host = useOneOutput(dependencies.host);
  const sessions = loadSessions(settings.session);
  let parts: ConversationParts | undefined;
  const getSessionId = () => parts?.session.session?.id;
  const changeLog = new ChangeLog(new SessionChanges({ directories, getSessionId }));
  // Calls are asked about only after the conversation has started.
  const ask: ApprovalPrompt = async (request) => await parts?.ask(request) ?? false;
  await using connection = await openConnection(settings, host);
  await using hooks = await startHooks({ ...settings, signal: interrupt.signal }, host);
  await using view = await openView(host);
  await using opened = await openAgent(settings, {
    hooks,
    sessions,
    ask,
    conversation: { changeLog },
    today: connection.today,
    interrupt,
    host: { ...host, fetch: connection.fetch },
    onAgent,
  });
  const { setup } = opened;
  parts = await createParts({ ...dependencies, settings, host, view, hooks, opened, changeLog });
  const { conversation, output, context } = parts;
  await using _session = parts.session;
  setup.agent.subscribe((event) => output.onEvent(event));
  signals.divert(() => void conversation.interrupt());
  await reportConversationStart(view, { ...settings, ...opened }, host);
  if (setup.agent.state.messages.length > 0) await context.printHistory();
  return await conversation.run(prompt === "" ? undefined : prompt);
}

/** Returns the host with all output on standard output, which is the terminal. */
function useOneOutput(host: Host): Host {
  const { terminal } = host;
  return {
    ...host,
    terminal: Object.create(terminal, { messages: { value: terminal.output } }),
  };
}

interface PartsOptions extends Pick<ConverseDependencies, "signals" | "configured" | "interrupt"> {
  readonly settings: ProjectRunSettings;
  readonly host: Host;
  readonly view: ConversationView;
  readonly hooks: StartedHooks;
  readonly opened: OpenedAgent;
  readonly changeLog: ChangeLog;
}

/** The parts of a conversation. */
interface ConversationParts {
  readonly conversation: Conversation;
  readonly output: ConversationOutput;
  readonly session: ConversationSession;
  readonly context: CommandContext;
  readonly ask: ApprovalPrompt;
}

async function createParts(options: PartsOptions): Promise<ConversationParts> {
  const { settings, host, view, hooks, opened, changeLog, signals, configured, interrupt } = options;
  const { setup } = opened;
  const { agent, planMode, controls } = setup;
  const { now, env } = host;
  const { baseUrl, cwd } = settings;
  const outputSettings: OutputSettings = {
    expandsTools: settings.verbosity === "verbose",
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
    takeTyped: (id) => runs.takeTyped(id),
    baseUrl,
    now,
  });
  let label = "";
  const runs: ConversationRuns = new ConversationRuns({
    agent,
    now,
    async createInput(text, signal) {
      const input = await attachFiles(text, { cwd, images: [], typed: text, signal });
      return await hooks.submit(input, signal);
    },
    onEvent: (event) => output.onEvent(event),
    onStart(text) {
      label = text;
      changeLog.beginTurn(`${now()} ${crypto.randomUUID()}`);
    },
    async onEnd(end) {
      const { turns, attempts } = output;
      record.addPrompt({ label, outcome: end.result, durationMs: end.durationMs });
      await view.print(formatRunEnd(end, { turns, attempts, baseUrl, env }));
      view.notify({ type: "ended", text: "swink has finished", durationMs: end.durationMs });
    },
    async onError(error, text) {
      await output.printError(getErrorMessage(error), error instanceof CliError ? error.advice : "");
      if (text !== undefined) view.setDraft(text);
    },
    onActivity: (activity) => output.await(activity === undefined ? undefined : { label: activity }),
  });
  const session = new ConversationSession({
    setup,
    recorded: opened.session,
    stopRecording: opened.stopRecording,
    cwd: await Deno.realPath(cwd),
    directories: configured.directories,
    onSwitched: () => record.clear(),
    onWarnings: (warnings) =>
      view.print(warnings.flatMap((warning) => toLines(`warning: ${warning}`, "warning"))),
  });
  const lend = <Result>(use: () => Promise<Result>) =>
    view.lend(() => signals.ignoreDuring(use));
  const editor = new ExternalEditor({ view: { lend }, env, cwd });
  let commands: Promise<readonly ConversationCommand[]> | undefined;
  const loadCommands = () => commands ??= importCommands(options);
  const context: CommandContext = {
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
    loadCommands,
    leave: (exitCode) => conversation.leave(exitCode),
    async printHistory() {
      const { prompt, running: bullet } = view.display.symbols;
      await view.print(formatHistory(agent.state.messages, { prompt, bullet }));
    },
    printCall: (call) => view.print(renderers.formatExpandedCall(call)),
  };
  const shell = new ShellCommands({
    shell: controls.tools.shell,
    view,
    onOutput: (line) => output.await({ label: line }),
  });
  const conversation: Conversation = new Conversation({
    context,
    output,
    runShell: (command, signal) => shell.run(command, signal),
    loadCommands,
    signal: interrupt.signal,
    getExitCode: () => interrupt.exitCode,
  });
  const ask = importApproval({ setup, view, host, output, editor, getAgent: () => runs.agent });
  return { conversation, output, session, context, ask };
}

async function importCommands(
  { configured: { directories, project }, view }: PartsOptions,
): Promise<readonly ConversationCommand[]> {
  const { loadCommands } = await importLate<typeof import("./commands/load_commands.ts")>(
    "./commands/load_commands.ts",
    import.meta.url,
  );
  return await loadCommands({
    directories,
    project,
    onProblem: (problem) => void view.print(toLines(`warning: ${problem}`, "warning")),
  });
}

interface ApprovalParts {
  readonly setup: AgentSetup;
  readonly view: ConversationView;
  readonly host: Host;
  readonly output: ConversationOutput;
  readonly editor: ExternalEditor;
  /** Returns the agent whose calls are approved. */
  readonly getAgent: () => Agent;
}

/** Returns the prompt for tool calls, whose code is loaded for the first question. */
function importApproval(
  { setup, view, host, output, editor, getAgent }: ApprovalParts,
): ApprovalPrompt {
  let prompt: ApprovalPrompt | undefined;
  return async (request) => {
    const { createApprovalPrompt } = await importLate<
      typeof import("./approval/ask_approval.ts")
    >("./approval/ask_approval.ts", import.meta.url);
    const { agent, controls: { gate } } = setup;
    prompt ??= createApprovalPrompt({
      view,
      tools: agent.state.tools,
      allow: [],
      deny: [],
      style: getStyle(host.terminal.output, host.env),
      getMessages: () => getAgent().state.messages,
      getTrusted: () => gate.trusted,
      onAsked: (toolCallId) => output.markReviewed(toolCallId),
      async editText(text, extension) {
        const edited = await editor.editText(text, extension);
        return edited === text.trimEnd() ? undefined : edited;
      },
    });
    return await prompt(request);
  };
}
