/**
 * `/context`: shows how much of the context window is used.
 *
 * @module
 */

import { estimateTextTokens } from "../../../src/core/streams/tokens.ts";
import { importLate } from "../../host/import_late.ts";
import { formatModel } from "../../render/format_model.ts";
import { formatNumber } from "../../render/format_number.ts";
import { pluralize } from "../../render/tool_line.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { formatFields } from "../command/format_fields.ts";

/** `/context`. */
export const context = defineCommand({
  names: ["/context"],
  summary: "Shows how much of the context window is used, and by what",
  worksDuringRuns: true,
  async run(_argument, { view, setup: { agent, controls } }) {
    const { contextGauge } = await importLate<typeof import("../../../src/memory/mod.ts")>(
      "../../../src/memory/mod.ts",
      import.meta.url,
    );
    const { transform, contextWindow, loadModelFacts } = controls;
    await loadModelFacts();
    const { used, limit, percent } = contextGauge(agent, { transform, contextWindow });
    const { systemPrompt, tools, messages, model } = agent.state;
    const shown = transform.view(messages);
    const toolSpecs = tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
    const share = percent === undefined
      ? ""
      : ` of ${formatNumber(limit ?? 0)} (${Math.round(percent)} %)`;
    const estimate = (text: string) => `about ${formatNumber(estimateTextTokens(text))} tokens`;
    await view.print(formatFields([
      ["model", formatModel(model)],
      ["used", `${formatNumber(used)} tokens${share}`],
      ["system prompt", estimate(systemPrompt)],
      ["tools", `${pluralize(tools.length, "tool")}, ${estimate(JSON.stringify(toolSpecs))}`],
      ["messages", pluralize(messages.length, "message")],
      ...(shown.messages.length < messages.length
        ? [
          [
            "sent",
            `${pluralize(shown.messages.length, "message")}; a summary replaces the others`,
          ] as const,
        ]
        : []),
    ], view));
  },
});
