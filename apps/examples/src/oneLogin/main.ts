/*
 * `npm run example login`: starts the service. Without `DATA_FILE`, users and notes are in memory, and a first user with an
 * organization is there, whose password and key are printed.
 */
import { randomBytes } from 'node:crypto';
import { startNotes } from './service.ts';

const random = () => randomBytes(32).toString('base64url');
const { PORT = '3004', DATA_FILE: file, PUBLIC_URL: publicUrl, SECRET, PASSWORD = random() } = process.env;
const trustProxy = process.env['TRUST_PROXY']?.split(',');
if (file !== undefined && SECRET === undefined) throw new Error('With DATA_FILE, SECRET must be set.');

const { origin, auth, close } = await startNotes({
  port: Number(PORT),
  secret: SECRET ?? random(),
  ...(file !== undefined && { file }),
  ...(publicUrl !== undefined && { publicUrl }),
  ...(trustProxy !== undefined && { trustProxy }),
});
process.stdout.write(`Notes are at ${origin}, on node:http\n`);
if (file === undefined) {
  const email = 'ada@example.com';
  const { user } = await auth.api.signUpEmail({ body: { name: 'Ada', email, password: PASSWORD } });
  const organization = { name: 'Library', slug: 'library', userId: user.id };
  const { id: organizationId } = await auth.api.createOrganization({ body: organization });
  const permissions = { notes: ['read', 'write'] };
  const { key } = await auth.api.createApiKey({
    body: { name: 'import', organizationId, userId: user.id, permissions },
  });
  process.stdout.write(`Sign in at ${origin}/sign-in as ${email} with ${PASSWORD}\nKEY=${key}\n`);
}
process.once('SIGTERM', () => void close());
process.once('SIGINT', () => void close());
