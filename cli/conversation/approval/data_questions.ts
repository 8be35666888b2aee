/**
 * Questions for the data that MCP servers request in a conversation.
 *
 * @module
 */

import type { DataQuestions } from "../../mcp/ask_for_data.ts";
import { createStyle } from "../../render/theme/create_style.ts";
import type { ConversationView } from "../view/conversation_view.ts";

/** Creates questions that a view asks. */
export function createDataQuestions(
  view: Pick<ConversationView, "display" | "askChoice" | "askText" | "notify">,
): DataQuestions {
  return {
    get style() {
      return createStyle(view.display);
    },
    askChoice: (choice, signal) => view.askChoice(choice, signal),
    askText: (question, signal) => view.askText(question, signal),
    notify: (text) => view.notify({ type: "asked", text }),
  };
}
