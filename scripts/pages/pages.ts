/**
 * The pages with generated parts: `deno task pages` writes them.
 *
 * @module
 */

import { createConfigSchema } from "../../cli/config/config_schema.ts";
import { updateConversationTables, updateTables } from "../../tests/cli/command_tables.ts";
import { formatConfigReference } from "./config_reference.ts";
import { formatEventReference } from "./event_reference.ts";
import { replaceGenerated } from "./markdown_table.ts";
import { formatProviderTable } from "./provider_table.ts";

const root = new URL("../../", import.meta.url);

/** A page, and how its generated parts are replaced. */
export interface GeneratedPage {
  /** Path relative to the root of the project. */
  readonly path: string;
  readonly update: (page: string) => string | Promise<string>;
}

/** The generated pages. */
export const GENERATED_PAGES: readonly GeneratedPage[] = [
  { path: "docs/cli.md", update: updateTables },
  { path: "docs/conversation.md", update: updateConversationTables },
  { path: "docs/adapters.md", update: replacePart(formatProviderTable) },
  {
    path: "docs/configuration.md",
    update: replacePart(() => formatConfigReference(createConfigSchema())),
  },
  {
    path: "docs/events.md",
    update: replacePart(async () =>
      formatEventReference(await Deno.readTextFile(new URL("src/core/events/event.ts", root)))
    ),
  },
];

function replacePart(format: () => string | Promise<string>): GeneratedPage["update"] {
  return async (page) =>
    replaceGenerated(page, { generator: "deno task pages", content: await format() });
}

if (import.meta.main) {
  for (const { path, update } of GENERATED_PAGES) {
    const url = new URL(path, root);
    await Deno.writeTextFile(url, await update(await Deno.readTextFile(url)));
  }
}
