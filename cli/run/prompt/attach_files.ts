/**
 * Files of a prompt, whose code is loaded if there are any.
 *
 * @module
 */

import type { PromptInput } from "../../../mod.ts";
import { importLate } from "../../host/import_late.ts";
import type { AttachmentOptions } from "./attachments.ts";

/** Adds the files that the prompt and the options name. */
export async function attachFiles(
  prompt: string,
  options: AttachmentOptions,
): Promise<PromptInput> {
  if (options.images.length === 0 && !options.typed.includes("@")) return prompt;
  const { addAttachments } = await importLate<typeof import("./attachments.ts")>(
    "./attachments.ts",
    import.meta.url,
  );
  return await addAttachments(prompt, options);
}
