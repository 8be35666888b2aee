/**
 * Converts the citations of OpenAI and compatible servers.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json/json.ts";
import type { Citation } from "../../../src/core/messages/content.ts";
import { textOrEmpty } from "../../kit/stream/wire_values.ts";

/** Converts annotations, each a web page, a file or a reference of Mistral, with or without a member of that name. */
export function toCitations(annotations: unknown): Citation[] {
  const list = Array.isArray(annotations) ? annotations : [];
  return list.map(toCitation).filter((citation) => citation !== undefined);
}

function toCitation(annotation: unknown): Citation | undefined {
  if (typeof annotation === "string") return { type: "url", url: annotation };
  if (!isJsonObject(annotation)) return undefined;
  const nested = annotation[textOrEmpty(annotation["type"])];
  const source: JsonObject = isJsonObject(nested) ? nested : annotation;
  const url = textOrEmpty(source["url"]);
  const title = textOrEmpty(source["title"] ?? source["filename"]);
  const text = textOrEmpty(source["content"] ?? source["quote"] ?? source["description"]);
  const shared = {
    ...(title !== "" && { title }),
    ...(text !== "" && { text }),
    data: annotation,
  };
  if (url !== "") return { type: "url", url, ...shared };
  const isDocument = title !== "" || source["file_id"] || source["reference_ids"];
  return isDocument ? { type: "document", ...shared } : undefined;
}
