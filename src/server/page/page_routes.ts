/**
 * The routes of the built-in page.
 *
 * @module
 */

import type { Route } from "../operations/routes.ts";

/** The page, its script and its style. */
export const PAGE_ROUTES: readonly Route[] = [];
