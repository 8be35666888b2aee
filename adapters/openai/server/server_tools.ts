/**
 * Server tools of the Responses API; loaded for the first request that has one.
 *
 * @module
 */

import type { UserLocation } from "../../../src/core/streams/server_tool.ts";
import type { ServerToolFormats } from "../../kit/request/server_tools.ts";

const FILE_SEARCH: ServerToolFormats["file_search"] = {
  supports: ["stores", "maxResults"],
  create: ({ stores, maxResults }) => ({
    type: "file_search",
    vector_store_ids: stores,
    max_num_results: maxResults,
  }),
};

/** The server tools of OpenAI and Azure. */
export const OPENAI_TOOLS: ServerToolFormats = {
  web_search: {
    supports: ["allowedDomains", "userLocation"],
    create: ({ allowedDomains, userLocation }) => ({
      type: "web_search",
      filters: allowedDomains && { allowed_domains: allowedDomains },
      user_location: userLocation && toLocation(userLocation),
    }),
  },
  code_execution: {
    supports: ["fileIds"],
    create: ({ fileIds }) => ({
      type: "code_interpreter",
      container: { type: "auto", ...(fileIds && { file_ids: fileIds }) },
    }),
  },
  file_search: FILE_SEARCH,
};

/** The server tools of xAI. */
export const XAI_TOOLS: ServerToolFormats = {
  web_search: {
    supports: ["allowedDomains", "blockedDomains"],
    create: ({ allowedDomains, blockedDomains }) => ({
      type: "web_search",
      filters: allowedDomains
        ? { allowed_domains: allowedDomains }
        : blockedDomains && { excluded_domains: blockedDomains },
    }),
  },
  code_execution: { supports: [], create: () => ({ type: "code_interpreter" }) },
  file_search: FILE_SEARCH,
};

function toLocation(location: UserLocation): object {
  return { type: "approximate", ...location };
}
