import { assertEquals } from "@std/assert";
import { Agent } from "../../../mod.ts";
import { reply, scriptedStream } from "../../../src/testing/mod.ts";
import type { Line } from "../../render/line/line.ts";
import { getDisplay } from "../../render/theme/get_display.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import { toLineText } from "../view/lines.ts";
import { ConversationOutput } from "./conversation_output.ts";
import { RecordedConversation } from "./recorded_conversation.ts";
import { type ConversationRenderers, createRenderers, type RendererModules } from "./renderers.ts";

/** Runs an agent twice, and returns the lines that are shown. */
async function showReplies(
  { modules, change = (renderers) => renderers }: {
    readonly modules?: RendererModules;
    readonly change?: (renderers: ConversationRenderers) => ConversationRenderers;
  },
): Promise<string[]> {
  const lines: string[] = [];
  const view = {
    columns: 80,
    rows: 24,
    display: getDisplay({ isTerminal: true }, () => undefined),
    print(printed: readonly Line[]) {
      lines.push(...printed.map(toLineText));
      return Promise.resolve();
    },
    redraw() {},
  } as unknown as ConversationView;
  const now = () => 0;
  const settings = { expandsTools: false, hidesThinking: false, diffLayout: "unified" } as const;
  const renderers = createRenderers({ view, settings, now, ...(modules && { modules }) });
  const output = new ConversationOutput({
    view,
    record: new RecordedConversation({ now, findTool: () => undefined }),
    settings,
    renderers: change(renderers),
    isPlanning: () => false,
    takeTypedText: () => undefined,
    baseUrl: undefined,
    now,
  });
  const streamFn = scriptedStream([reply("**One**\nline"), reply("Two")]);
  const agent = new Agent({ model: "any/model", streamFn });
  agent.subscribe((event) => output.onEvent(event));
  await agent.prompt("First");
  await agent.prompt("Second");
  return lines;
}

Deno.test("ConversationOutput: shows replies as they are when the renderers cannot be loaded", async () => {
  const fail = () => Promise.reject(new Error("the package is not cached"));
  const modules = { markdown: fail, thinking: fail, highlighter: fail };
  assertEquals(await showReplies({ modules }), [
    "warning: texts are shown without formats: the package is not cached",
    "**One**",
    "line",
    "Two",
  ]);
});

Deno.test("ConversationOutput: reports once that output cannot be shown, and shows what follows", async () => {
  let isFailing = true;
  const change = (renderers: ConversationRenderers): ConversationRenderers => ({
    ...renderers,
    async createText(isPlanning) {
      if (isFailing) {
        isFailing = false;
        throw new Error("no renderer");
      }
      return await renderers.createText(isPlanning);
    },
  });
  assertEquals(await showReplies({ change }), [
    "error: A part of the output cannot be shown: no renderer",
    "line",
    "Two",
  ]);
});
