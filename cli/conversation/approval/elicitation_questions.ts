/**
 * Questions for the data that MCP servers request in a conversation.
 *
 * @module
 */

import type { ElicitationQuestions } from "../../mcp/ask_elicitation.ts";
import { createStyle } from "../../render/theme/create_style.ts";
import type { ConversationView } from "../view/conversation_view.ts";

/** Creates questions that a view asks. */
export function createElicitationQuestions(
  view: Pick<ConversationView, "display" | "askChoice" | "askText" | "notify">,
): ElicitationQuestions {
  return {
    get style() {
      return createStyle(view.display);
    },
    askChoice: (choice, signal) => view.askChoice(choice, signal),
    askText: (question, signal) => view.askText(question, signal),
    notify: (text) => view.notify({ type: "asked", text }),
  };
}
