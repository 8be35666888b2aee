/**
 * `swink sessions`: lists, shows and deletes saved sessions.
 *
 * @module
 */

import { type ArgumentDefinition, defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";
import { DEFAULT_SESSION_LIMIT, LIST_FORMAT_OPTIONS } from "../settings/list_options.ts";

const { ok, failed, usage, configuration } = ExitCode;

const ID: ArgumentDefinition = {
  name: "id",
  description: "Id of the session; its beginning is enough.",
  completer: "sessions list --all --limit 50",
};

const ALL = {
  type: "boolean",
  description: "Sessions of all directories, not only of the current one.",
} as const;

const LIMIT = {
  type: "integer",
  value: "count",
  description: "Maximum number of sessions or hits.",
  minimum: 1,
  default: DEFAULT_SESSION_LIMIT,
} as const;

const list = defineCommand({
  name: "list",
  summary: "Lists the sessions of the directory, the last one first",
  options: { all: ALL, limit: LIMIT, ...LIST_FORMAT_OPTIONS },
  examples: [["swink sessions list --all -o json", "sessions of all directories, for a script"]],
  exitCodes: [ok, usage, configuration],
  async action({ options }, host) {
    const { listSessions } = await loadActions();
    return await listSessions(options, host);
  },
});

const show = defineCommand({
  name: "show",
  summary: "Prints a session as Markdown, or writes it as a web page",
  arguments: [ID],
  options: {
    html: {
      type: "file",
      value: "file",
      description: "Writes one page without other files; - is standard output.",
    },
  },
  examples: [[
    "swink sessions show 3f2a --html session.html",
    "one page with charts, decisions and diffs",
  ]],
  exitCodes: [ok, failed, usage, configuration],
  async action({ options: { html }, arguments: [id = ""] }, host) {
    const { showSession } = await loadActions();
    return await showSession(id, html, host);
  },
});

const search = defineCommand({
  name: "search",
  summary: "Finds sessions with words, or beginnings of words",
  arguments: [{ name: "words", description: "The words.", variadic: true }],
  options: { all: ALL, limit: LIMIT, ...LIST_FORMAT_OPTIONS },
  examples: [["swink sessions search 'flaky test' --all", "in all directories"]],
  exitCodes: [ok, usage, configuration],
  async action({ options, arguments: words }, host) {
    const { searchSessions } = await loadActions();
    return await searchSessions(words.join(" "), options, host);
  },
});

const exportSession = defineCommand({
  name: "export",
  summary: "Prints a session with all its branches as JSON lines, for import",
  arguments: [ID],
  examples: [["swink sessions export 3f2a > session.jsonl", "for another machine"]],
  exitCodes: [ok, usage, configuration],
  async action({ arguments: [id = ""] }, host) {
    const { exportSession } = await loadActions();
    return await exportSession(id, host);
  },
});

const importSession = defineCommand({
  name: "import",
  summary: "Creates a session from JSON lines",
  arguments: [{ name: "file", description: "The file; - is standard input.", isFile: true }],
  options: {
    sessionId: {
      type: "string",
      value: "id",
      description: "Id of the session. Default: a new one.",
    },
  },
  examples: [["swink sessions import session.jsonl", "what export has printed"]],
  exitCodes: [ok, failed, usage, configuration],
  async action({ options: { sessionId }, arguments: [file = ""] }, host) {
    const { importSession } = await loadActions();
    return await importSession(file, sessionId, host);
  },
});

const remove = defineCommand({
  name: "delete",
  summary: "Deletes sessions permanently",
  arguments: [{
    ...ID,
    name: "ids",
    description: "Ids of the sessions; the beginning of each is enough.",
    optional: true,
    variadic: true,
  }],
  options: {
    olderThan: {
      type: "integer",
      value: "days",
      description:
        "Deletes the sessions of all directories that were not used for so many days and can be opened.",
      minimum: 1,
    },
    yes: { short: "y", type: "boolean", description: "Does not ask." },
  },
  examples: [["swink sessions delete --older-than 90 --yes", "in a script"]],
  exitCodes: [ok, failed, usage, configuration],
  async action({ options, arguments: ids }, host) {
    const { deleteSessions } = await loadActions();
    return await deleteSessions(ids, options, host);
  },
});

/** `swink sessions`. */
export const sessions = defineCommand({
  name: "sessions",
  summary: "Lists, shows, searches, copies and deletes saved sessions",
  synonyms: {
    ls: "list",
    cat: "show",
    view: "show",
    print: "show",
    find: "search",
    grep: "search",
    rm: "delete",
    remove: "delete",
    prune: "delete",
  },
  commands: [list, show, search, exportSession, importSession, remove],
  exitCodes: [ok, failed, usage, configuration],
});

function loadActions(): Promise<typeof import("../sessions/session_actions.ts")> {
  return importLate("../sessions/session_actions.ts", import.meta.url);
}
