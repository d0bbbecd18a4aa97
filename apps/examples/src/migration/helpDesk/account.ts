import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { AppError } from './appError.ts';
import * as sessions from './sessions.ts';
import { adminProcedure, procedure, publicProcedure, router } from './trpc.ts';

const Credentials = z.object({ email: z.email(), password: z.string().min(6) });
const User = z.object({ email: z.string(), role: z.enum(['admin', 'agent']) });
const tags = ['account'];

export const account = router({
  signIn: publicProcedure
    .meta({ openapi: { method: 'POST', path: '/sign-in', tags, protect: false } })
    .input(Credentials)
    .output(z.object({ token: z.string() }))
    .mutation(({ input: { email, password } }) => {
      const token = sessions.signIn(email, password);
      if (token === undefined)
        throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Wrong email address or password.' });
      return { token };
    }),
  signUp: publicProcedure
    .meta({ openapi: { method: 'POST', path: '/sign-up', tags, protect: false } })
    .input(Credentials.refine(({ email, password }) => email !== password))
    .output(z.void())
    .mutation(({ input: { email, password } }) => {
      if (!sessions.signUp(email, password)) throw new AppError('CONFLICT', 'This email address is taken.');
    }),
  me: procedure
    .meta({ openapi: { method: 'GET', path: '/me', tags } })
    .input(z.void())
    .output(User)
    .query(({ ctx: { session } }) => session),
  changePassword: procedure.input(Credentials.pick({ password: true })).mutation(({ ctx, input }) => {
    sessions.changePassword(ctx.session.email, input.password);
  }),
  // Of the sign-in page.
  methods: publicProcedure.query(() => ['password']),
  signOut: procedure
    .meta({ openapi: { method: 'POST', path: '/sign-out', tags } })
    .input(z.object({}))
    .output(z.void())
    .mutation(({ ctx }) => sessions.signOut(ctx.session.email)),
});

export const admin = router({
  users: adminProcedure.query(() => sessions.users()),
  user: adminProcedure.input(z.email()).query(({ input }) => {
    if (!sessions.users().includes(input)) throw new AppError('NOT_FOUND', 'No user has this address.');
    return { email: input };
  }),
  signOut: adminProcedure.input(z.email()).mutation(({ input }) => sessions.signOut(input)),
  address: adminProcedure.query(({ ctx }) => ctx.address ?? null),
});
