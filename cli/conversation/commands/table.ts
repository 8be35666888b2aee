/**
 * The commands of a conversation. To add a command, define it in a file of its own and list it here.
 *
 * @module
 */

import type { ConversationCommand } from "../command/conversation_command.ts";
import { agents } from "./agents.ts";
import { approve } from "./approve.ts";
import { clear } from "./clear.ts";
import { compact } from "./compact.ts";
import { context } from "./context.ts";
import { copy } from "./copy.ts";
import { diff } from "./diff.ts";
import { doctor } from "./doctor.ts";
import { editPlan } from "./edit_plan.ts";
import { editor } from "./editor.ts";
import { execute } from "./execute.ts";
import { expand } from "./expand.ts";
import { exportSession } from "./export.ts";
import { fork } from "./fork.ts";
import { help } from "./help.ts";
import { init } from "./init.ts";
import { key } from "./key.ts";
import { keys } from "./keys.ts";
import { mcp } from "./mcp.ts";
import { model } from "./model.ts";
import { net } from "./net.ts";
import { plan } from "./plan.ts";
import { queue } from "./queue.ts";
import { quit } from "./quit.ts";
import { redo } from "./redo.ts";
import { reset } from "./reset.ts";
import { resume } from "./resume.ts";
import { review } from "./review.ts";
import { rewind } from "./rewind.ts";
import { save } from "./save.ts";
import { sessions } from "./sessions.ts";
import { skills } from "./skills.ts";
import { status } from "./status.ts";
import { system } from "./system.ts";
import { theme } from "./theme.ts";
import { thinking } from "./thinking.ts";
import { tools } from "./tools.ts";
import { tree } from "./tree.ts";
import { undo } from "./undo.ts";
import { usage } from "./usage.ts";

/** The commands, in the order of the help. */
export const COMMANDS: readonly ConversationCommand[] = [
  help,
  quit,
  editor,
  // The agent
  model,
  thinking,
  system,
  plan,
  editPlan,
  execute,
  review,
  init,
  // Rights
  approve,
  net,
  keys,
  key,
  // The conversation
  compact,
  context,
  usage,
  status,
  queue,
  undo,
  redo,
  rewind,
  // Sessions
  reset,
  sessions,
  resume,
  save,
  fork,
  tree,
  exportSession,
  // Output
  expand,
  tools,
  diff,
  copy,
  clear,
  theme,
  // Extensions
  agents,
  skills,
  mcp,
  doctor,
];
