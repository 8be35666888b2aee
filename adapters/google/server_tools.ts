/**
 * Google's server tools; loaded for the first request that has one.
 *
 * @module
 */

import type { ServerToolFormats } from "../kit/request/server_tools.ts";

/** Options of the server tools. */
export interface GoogleToolOptions {
  /** Whether the server is Vertex AI, which supports other options. */
  readonly isVertex: boolean;
}

/** Returns the server tools of the Gemini API or of Vertex AI. */
export function getGoogleTools({ isVertex }: GoogleToolOptions): ServerToolFormats {
  return {
    web_search: {
      supports: isVertex ? ["blockedDomains"] : [],
      create: ({ blockedDomains }) => ({
        googleSearch: blockedDomains ? { excludeDomains: blockedDomains } : {},
      }),
    },
    web_fetch: { supports: [], create: () => ({ urlContext: {} }) },
    code_execution: { supports: [], create: () => ({ codeExecution: {} }) },
    ...(!isVertex && {
      file_search: {
        supports: ["stores", "maxResults"],
        create: ({ stores, maxResults }) => ({
          fileSearch: {
            fileSearchStoreNames: stores,
            ...(maxResults !== undefined && { topK: maxResults }),
          },
        }),
      },
    }),
  };
}
