/* lock (workers=2), as insync traced it. */
byte v_holder;  /* holder: 0 to 2 */
byte v_doing_worker1;  /* doing[worker1]: 0 to 2 */
byte v_doing_worker2;  /* doing[worker2]: 0 to 2 */

c_code {
\#define ACTIONS 6
\#define PROPERTIES 2
\#define DEPTHS 100000
\#define GUARD_0 guard_0()
\#define GUARD_1 guard_1()
\#define GUARD_2 guard_2()
\#define GUARD_3 guard_3()
\#define GUARD_4 guard_4()
\#define GUARD_5 guard_5()
\#define VIOLATED violated()
static char *names[] = { "one_inside", "type_ok" };
static long levels[DEPTHS], outside_of[DEPTHS], steps[ACTIONS + 1], failing[PROPERTIES];
}
c_code {
typedef long long number;
static number min_(number a, number b) { return a < b ? a : b; }
static number max_(number a, number b) { return a > b ? a : b; }
static number div_(number a, number n) { return a >= 0 ? a / n : -((n - 1 - a) / n); }
static number mod_(number a, number n) { return a - n * div_(a, n); }
static number ite_(number c, number a, number b) { return c ? a : b; }
static number bit_(number i) { return i >= 0 && i <= 62 ? 1LL << i : 0; }
static number test_(number m, number i) { return i >= 0 && i <= 62 ? (m >> i) & 1 : 0; }
static number count_(number m) { return __builtin_popcountll(m); }
}
c_code {
static void start_0(void) {
  now.v_holder = 0;
  now.v_doing_worker1 = 0;
  now.v_doing_worker2 = 0;
}
}
c_code {
static int guard_0(void) {
  number n1 = now.v_doing_worker1;
  number n2 = (n1 == 0);
  if (!n2) return 0;
  number n3 = now.v_holder;
  number n4 = (n3 == 0);
  if (!n4) return 0;
  return 1;
}
}
c_code {
static void step_0(void) {
  now.v_doing_worker1 = 1;
  steps[0]++;
}
}
c_code {
static int guard_1(void) {
  number n1 = now.v_doing_worker2;
  number n2 = (n1 == 0);
  if (!n2) return 0;
  number n3 = now.v_holder;
  number n4 = (n3 == 0);
  if (!n4) return 0;
  return 1;
}
}
c_code {
static void step_1(void) {
  now.v_doing_worker2 = 1;
  steps[1]++;
}
}
c_code {
static int guard_2(void) {
  number n1 = now.v_doing_worker1;
  number n2 = (n1 == 1);
  if (!n2) return 0;
  return 1;
}
}
c_code {
static void step_2(void) {
  now.v_holder = 1;
  now.v_doing_worker1 = 2;
  steps[2]++;
}
}
c_code {
static int guard_3(void) {
  number n1 = now.v_doing_worker2;
  number n2 = (n1 == 1);
  if (!n2) return 0;
  return 1;
}
}
c_code {
static void step_3(void) {
  now.v_holder = 2;
  now.v_doing_worker2 = 2;
  steps[3]++;
}
}
c_code {
static int guard_4(void) {
  number n1 = now.v_doing_worker1;
  number n2 = (n1 == 2);
  if (!n2) return 0;
  return 1;
}
}
c_code {
static void step_4(void) {
  now.v_holder = 0;
  now.v_doing_worker1 = 0;
  steps[4]++;
}
}
c_code {
static int guard_5(void) {
  number n1 = now.v_doing_worker2;
  number n2 = (n1 == 2);
  if (!n2) return 0;
  return 1;
}
}
c_code {
static void step_5(void) {
  now.v_holder = 0;
  now.v_doing_worker2 = 0;
  steps[5]++;
}
}
c_code {
static int property_0(void) {
  number n1 = now.v_doing_worker1;
  number n2 = (n1 == 2);
  number n3 = now.v_doing_worker2;
  number n4 = (n3 == 2);
  number n5 = (n2 && n4);
  number n6 = (!n5);
  number n7 = (n6);
  number n8 = (n4 && n2);
  number n9 = (!n8);
  number n10 = (n9);
  number n11 = (n7 && n10);
  if (!n11) return 0;
  return 1;
}
}
c_code {
static int property_1(void) {
  return 1;
}
}
c_code {
static int outside(void) {
  return 0;
}
}
c_code {
static int holds(long k) {
  switch (k) {
  case 0: return property_0();
  case 1: return property_1();
  }
  return 1;
}
}
c_code {
\#ifdef COUNT
\#ifndef MOST_DEPTH
\#define MOST_DEPTH 99999
\#endif
\#ifndef MOST_STATES
\#define MOST_STATES 1000000000
\#endif
extern long depth;
extern void wrapup(void);
static State looked_at;
static long looked, level;
static void print_counted(void) {
  long k;
  printf("counted levels");
  for (k = 1; k <= level; k++) printf(" %ld", levels[k]);
  printf("\ncounted outside");
  for (k = 1; k <= level; k++) printf(" %ld", outside_of[k]);
  printf("\ncounted steps");
  for (k = 0; k < ACTIONS; k++) printf(" %ld", steps[k]);
  printf("\ncounted failing");
  for (k = 0; k < PROPERTIES; k++) printf(" %ld", failing[k]);
  printf("\n");
}
static void stop(char *why) { printf("counted until %s\n", why); wrapup(); }
static void next_level(void) {
  long k;
  for (k = 0; k < PROPERTIES; k++) if (failing[k]) stop("violation");
  if (level >= MOST_DEPTH || level >= DEPTHS - 1) stop("depth");
  if (looked >= MOST_STATES) stop("states");
  level = depth;
}
static int violated(void) {
  long k;
  if (!looked) atexit(print_counted);
  else if (!memcmp(&looked_at, &now, sizeof(State))) return 0;  /* pan tries a state without steps twice */
  memcpy(&looked_at, &now, sizeof(State));
  if (depth > level) next_level();
  looked++;
  if (outside()) outside_of[depth]++; else levels[depth]++;
  for (k = 0; k < PROPERTIES; k++) if (!failing[k] && !holds(k)) failing[k] = depth;
  return 0;
}
\#else
static int violated(void) {
  long k;
  for (k = 0; k < PROPERTIES; k++) if (!holds(k)) { printf("violated: %s\n", names[k]); return 1; }
  return 0;
}
\#endif
}
active proctype model() {
  if
  :: d_step { c_code { start_0(); } }
  fi;
end:
  do
  :: d_step { c_expr { VIOLATED } -> assert(false) }
  :: d_step { c_expr { GUARD_0 } -> c_code { step_0(); } }  /* look(worker=worker1): worker1: look */
  :: d_step { c_expr { GUARD_1 } -> c_code { step_1(); } }  /* look(worker=worker2): worker2: look */
  :: d_step { c_expr { GUARD_2 } -> c_code { step_2(); } }  /* enter(worker=worker1): worker1: enter */
  :: d_step { c_expr { GUARD_3 } -> c_code { step_3(); } }  /* enter(worker=worker2): worker2: enter */
  :: d_step { c_expr { GUARD_4 } -> c_code { step_4(); } }  /* leave(worker=worker1): worker1: leave */
  :: d_step { c_expr { GUARD_5 } -> c_code { step_5(); } }  /* leave(worker=worker2): worker2: leave */
  od
}
