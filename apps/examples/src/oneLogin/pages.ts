import { hash } from 'node:crypto';
import type { Routes } from 'trpc-gateway';

/** Sends a form to Better Auth with the signed query that it gave this page, and goes where it says. */
const send = `
async function send(path, body) {
  const query = location.search.slice(1);
  const response = await fetch('/api/auth/' + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...(query && { oauth_query: query }) }),
  });
  const { url, message, error_description } = await response.json();
  const text = response.ok ? 'You are signed in.' : (message ?? error_description);
  if (url) location.assign(url);
  else document.querySelector('output').textContent = text;
}`;

const signIn = page(
  'Sign in',
  `<form>
    <label>Email <input name="email" type="email" autocomplete="username" required></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
    <button>Sign in</button>
  </form>`,
  `${send}
document.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault();
  send('sign-in/email', Object.fromEntries(new FormData(event.target)));
});`,
);

// A client chooses its own name, so the page also says where the access goes.
const consent = page(
  'Allow access?',
  `<p><strong id="client"></strong> at <strong id="host"></strong> asks to act for you:</p>
  <ul></ul>
  <button value="yes">Allow</button> <button value="">Deny</button>`,
  `${send}
const query = new URLSearchParams(location.search);
const show = (id, text) => { document.getElementById(id).textContent = text; };
show('host', new URL(query.get('redirect_uri')).host);
for (const scope of query.get('scope').split(' ')) {
  document.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: scope }));
}
const client = '/api/auth/oauth2/public-client?client_id=' + encodeURIComponent(query.get('client_id'));
fetch(client).then((response) => response.json()).then(({ client_name }) => show('client', client_name));
for (const button of document.querySelectorAll('button')) {
  button.addEventListener('click', () => send('oauth2/consent', { accept: button.value === 'yes' }));
}`,
);

/** The pages to which Better Auth sends a user of an agent. */
export const pages: Routes = { '/sign-in': () => signIn, '/consent': () => consent };

/** Returns a page that runs its own script alone, and that no other page can frame, to get a click on "Allow". */
function page(title: string, body: string, script: string) {
  const policy = [
    "default-src 'none'",
    "connect-src 'self'",
    `script-src 'sha256-${hash('sha256', script, 'base64')}'`,
    "frame-ancestors 'none'",
  ].join('; ');
  return {
    status: 200,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['content-security-policy', policy],
      ['referrer-policy', 'no-referrer'],
    ] as const,
    body: `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}<output></output><script type="module">${script}</script></html>`,
  };
}
