import { randomBytes } from 'node:crypto';
import { freePort } from '@petstore/testing/freePort';
import { onTestFinished } from 'vitest';
import { startNotes } from '../service.ts';

export type Headers = Readonly<Record<string, string>>;

/** Starts the service with an organization, whose owner is Ada and whose member is Grace, and with another one of Eve. */
export async function newNotes() {
  const secret = randomBytes(32).toString('base64url');
  const service = await startNotes({ port: await freePort(), secret });
  onTestFinished(service.close);
  const { origin, auth } = service;
  const { api } = auth;
  const person = async (name: string) => {
    const { user } = await api.signUpEmail({ body: { name, ...credentialsOf(name) } });
    return user.id;
  };
  const [ada, grace, eve] = [await person('ada'), await person('grace'), await person('eve')];
  const library = await api.createOrganization({ body: { name: 'Library', slug: 'library', userId: ada } });
  await api.addMember({ body: { organizationId: library.id, userId: grace, role: 'member' } });
  await api.createOrganization({ body: { name: 'Elsewhere', slug: 'elsewhere', userId: eve } });
  return {
    origin,
    api,
    ada,
    library,
    /** Returns the headers of a program with a key of the library. */
    keyFor: async (...actions: readonly string[]): Promise<Headers> => {
      const body = { name: 'import', organizationId: library.id, userId: ada };
      const { key } = await api.createApiKey({ body: { ...body, permissions: { notes: [...actions] } } });
      return { 'x-api-key': key };
    },
    /** Signs a person in, and returns the headers of the browser. */
    sessionOf: async (name: string): Promise<Headers> => ({
      cookie: cookiesOf(await post(origin, 'sign-in/email', credentialsOf(name))),
    }),
  };
}

export const credentialsOf = (name: string) => ({
  email: `${name}@example.com`,
  password: `the password of ${name}`,
});

/** Sends a form to Better Auth, as the pages do. */
export const post = (origin: string, path: string, body: object, headers: Headers = {}) =>
  fetch(`${origin}/api/auth/${path}`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

export const cookiesOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
