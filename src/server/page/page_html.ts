/**
 * The built-in page.
 *
 * @module
 */

/** The document, whose script fills it. */
export const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sessions</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<script type="module" src="page.js"></script>
</head>
<body>
<form id="login" hidden>
<h1>Sessions</h1>
<label>Token <input id="token" type="password" autocomplete="off" required></label>
<button>Sign in</button>
<p id="login-problem" role="alert"></p>
</form>
<div id="app" hidden>
<nav aria-label="Sessions">
<header><h1>Sessions</h1><button id="create">New session</button></header>
<ul id="sessions"></ul>
<button id="more" hidden>More</button>
<button id="leave">Sign out</button>
</nav>
<main>
<p id="empty">Select a session, or create one.</p>
<section id="session" hidden aria-labelledby="title">
<header>
<h2 id="title"></h2>
<span id="status"></span>
<span id="connection" role="status"></span>
<button id="abort" hidden>Abort</button>
<button id="continue" hidden>Continue</button>
<button id="delete">Delete</button>
</header>
<div id="transcript" role="log" aria-live="polite" tabindex="0"></div>
<form id="approvals" hidden><h3>These tool calls wait for your decision</h3><div id="calls"></div>
<button>Send decisions</button></form>
<form id="compose">
<label for="text">Message</label>
<textarea id="text" rows="3" required></textarea>
<div><button id="send">Send</button><button id="steer" type="button" hidden>Steer</button>
<button id="follow" type="button" hidden>Follow up</button></div>
</form>
<p id="problem" role="alert"></p>
</section>
</main>
</div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;
