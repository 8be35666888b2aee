/**
 * The sessions of `swink acp`: created, opened, listed and deleted for an editor.
 *
 * @module
 */

import { AuthError, BadRequestError, SessionError } from "../../src/core/errors/errors.ts";
import type { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { isAbsolute } from "../../src/platform/paths.ts";
import type {
  AcpHost,
  AcpSession,
  AcpSessionInfo,
  AcpSessionRequest,
} from "../../src/protocols/acp/mod.ts";
// Not mod.ts, which loads all tools.
import { containsHome } from "../../src/tools/sandbox/home_directory.ts";
import type { GivenOptions } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { getProgramDirectories, type ProgramDirectories } from "../host/program_directories.ts";
import { VERSION } from "../host/version.ts";
import { findModel } from "../run/model/model_choice.ts";
import type { ModelConnection } from "../run/model/model_connection.ts";
import { resolveDirectory } from "../run/settings/resolve_path.ts";
import type { ProjectRunSettings } from "../run/settings/settings.ts";
import { addDebugLog, startCommand } from "../run/start_command.ts";
import { deleteChanges } from "../sessions/session_actions.ts";
import { getSessionTitle } from "../sessions/session_list.ts";
import { openStore } from "../sessions/start_recording.ts";
import type { AcpOptions } from "../settings/acp_options.ts";
import { toServerConfig } from "./client_servers.ts";
import { toRequestError } from "./editor_error.ts";
import { type EditorSessionOptions, runEditorSession } from "./editor_session.ts";
import { toRunOptions } from "./run_options.ts";

/** The command line of `swink acp`. */
export type AcpCommandLine = GivenOptions<AcpOptions>;

/** Options for `createEditorHost()`, which all sessions have in common. */
export interface EditorHostOptions {
  /** The command line. */
  readonly commandLine: AcpCommandLine;
  /** The connection to the model. */
  readonly connection: ModelConnection;
  /** Ends the program. */
  readonly interrupt: InterruptHandler;
  /** Environment, network and standard error; all output is on standard error. */
  readonly host: Host;
}

/** Number of sessions on a page of the list. */
const PAGE_SIZE = 50;

/** Creates the host of the sessions. */
export function createEditorHost(options: EditorHostOptions): AcpHost {
  const { commandLine, host } = options;
  const directories = getProgramDirectories(host.env);
  const isSaved = directories !== undefined && !commandLine.options.noSession;
  const createSession = (request: AcpSessionRequest) =>
    openEditorSession(request, { ...options, id: crypto.randomUUID(), exists: false });
  return {
    name: "swink",
    version: VERSION,
    authMethods: [{
      id: "login",
      name: "swink login",
      description:
        "Save the key of a provider in a terminal: swink login PROVIDER, such as swink login anthropic",
      terminalArguments: ["--login"],
    }],
    createSession: (request) => reportErrors(() => createSession(request)),
    ...(isSaved && createStoredSessions(directories, options)),
  };
}

function createStoredSessions(
  directories: ProgramDirectories,
  options: EditorHostOptions,
): Required<Pick<AcpHost, "openSession" | "listSessions" | "deleteSession">> {
  const getStore = () => openStore({ cwd: "", directories });
  return {
    openSession: ({ sessionId: id, ...request }) =>
      reportErrors(async () => {
        if (!await isStored(id, getStore())) return undefined;
        return await openEditorSession(request, { ...options, id, exists: true });
      }),
    async listSessions({ cwd, cursor }) {
      const { listWithoutSubAgents } = await importLate<
        typeof import("../../src/memory/store/sub_agent_link.ts")
      >("../../src/memory/store/sub_agent_link.ts", import.meta.url);
      const directory = cwd === undefined ? undefined : await Deno.realPath(cwd).catch(() => cwd);
      const page = await listWithoutSubAgents(getStore(), {
        limit: PAGE_SIZE,
        ...(directory !== undefined && { cwd: directory }),
        ...(cursor !== undefined && { cursor }),
      });
      const sessions = page.flatMap((session): AcpSessionInfo[] => {
        const { id: sessionId, cwd, updated, problem } = session;
        // The protocol requires a directory.
        if (cwd === undefined || problem !== undefined) return [];
        const title = getSessionTitle(session);
        return [{ sessionId, cwd, title, updatedAt: new Date(updated).toISOString() }];
      });
      return { sessions, nextCursor: page.cursor };
    },
    async deleteSession(id) {
      await getStore().delete(id);
      await deleteChanges(id, options.host);
    },
  };
}

async function isStored(id: string, store: FileSessionStore): Promise<boolean> {
  try {
    await using _session = await store.open(id, { access: "read" });
    return true;
  } catch (error) {
    if (error instanceof SessionError && error.reason === "not_found") return false;
    throw error;
  }
}

interface SessionIdentity {
  readonly id: string;
  readonly exists: boolean;
}

async function openEditorSession(
  request: AcpSessionRequest,
  options: EditorHostOptions & SessionIdentity,
): Promise<AcpSession> {
  const { commandLine, connection, interrupt, host: programHost, id, exists } = options;
  checkDirectories(request, options);
  const run = { ...toRunOptions(commandLine.options), cwd: request.cwd };
  const started = await startCommand(
    { options: run, given: commandLine.given },
    { hasPrompt: false, interrupt, host: { ...programHost, fetch: connection.fetch } },
  );
  if (started.type === "ended") {
    throw new BadRequestError("Cannot open the session: the program is stopping");
  }
  const { configured, host } = started;
  const { permissionMode: mode, session, ...parsed } = started.settings;
  const settings: ProjectRunSettings = {
    ...parsed,
    ...addServers(started.settings, request),
    addedDirectories: [...parsed.addedDirectories, ...request.additionalDirectories],
    // `SessionModes` selects the mode when the session is open.
    permissionMode: "default",
    session: session.type === "none" ? session : { type: "named", id },
    project: await started.loadProject(),
  };
  if (!exists && !await findModel(settings, host)) throw createNoModelError();
  const { today } = connection;
  return await openServedSession(async (onOpen) => {
    const serve = await addDebugLog(settings, async (settings, dependencies) => {
      const session = { id, exists, mode, request, configured, today, onOpen };
      await runEditorSession(settings, { ...dependencies, ...session });
      return ExitCode.ok;
    });
    return await serve(settings, { prompt: "", interrupt, host });
  });
}

/** Starts to serve a session, and returns it when it is open; `close()` ends `serve`. */
async function openServedSession(
  serve: (onOpen: EditorSessionOptions["onOpen"]) => Promise<unknown>,
): Promise<AcpSession> {
  const opened = Promise.withResolvers<AcpSession>();
  const closing = Promise.withResolvers<void>();
  const ended = serve((session) => {
    opened.resolve(session);
    return closing.promise;
  });
  ended.then(() => opened.reject(new BadRequestError(ENDED_EARLY)), opened.reject);
  const { close: _close, ...session } = await opened.promise;
  return {
    ...session,
    async close() {
      closing.resolve();
      await ended;
    },
  };
}

const ENDED_EARLY = "The session ended while it was being opened: open it again";

/**
 * Checks the directories that an editor names, in all of which the model may change files.
 *
 * @throws {BadRequestError} If one is relative, or contains the home directory and this is not allowed.
 * @throws {UsageError} If one does not exist.
 */
function checkDirectories(
  { cwd, additionalDirectories }: Pick<AcpSessionRequest, "cwd" | "additionalDirectories">,
  { commandLine, host }: Pick<EditorHostOptions, "commandLine" | "host">,
): void {
  const directories = [
    ["cwd", cwd] as const,
    ...additionalDirectories.map((path) => ["additionalDirectories", path] as const),
  ];
  for (const [name, path] of directories) {
    const quoted = JSON.stringify(path);
    if (!isAbsolute(path)) {
      throw new BadRequestError(`${name} must be an absolute path, not ${quoted}`);
    }
    resolveDirectory(path, name);
    if (commandLine.options.allowHome || !containsHome(path, host.env("HOME"))) continue;
    throw new BadRequestError(
      `The directory ${quoted} contains the home directory: open the directory of a project, or add --allow-home to the command of the agent`,
    );
  }
}

/** Returns the sources of MCP servers with those that the editor names. */
function addServers(
  { servers, passEnvironment }: Pick<ProjectRunSettings, "servers" | "passEnvironment">,
  { mcpServers }: Pick<AcpSessionRequest, "mcpServers">,
): Pick<ProjectRunSettings, "servers"> {
  const named = toServerConfig(mcpServers);
  if (!named) return {};
  return { servers: { files: [], passEnvironment, ...servers, servers: named } };
}

function createNoModelError(): AuthError {
  return new AuthError(
    "No model is configured: run swink login anthropic or swink login openai in a terminal, or set ANTHROPIC_API_KEY or OPENAI_API_KEY, or add -m provider/model to the command of the agent",
  );
}

/** Returns errors of the program as those of a request. */
async function reportErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toRequestError(error);
  }
}
