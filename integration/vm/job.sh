# Sourced in the guest before a job: how it says what held. `check NAME COMMAND…` is one line of the result.
# shellcheck shell=bash
check() { # NAME COMMAND...
	local name=$1 said rc=0
	shift
	said=$("$@" 2>&1) || rc=$?
	if [ $rc = 0 ]; then
		echo "ok $name"
	else
		echo "FAIL $name (status $rc)"
		printf '%s\n' "$said" | sed 's/^/  | /'
	fi
}
# The tests of one file of integration/tests; one line of the result a test.
suite() { # FILE ARGUMENTS-OF-THE-TEST-PROGRAM...
	local file=$1 said rc=0
	shift
	# each test takes many times as long under emulation, and they share two processors
	said=$(cd /tmp && "$TESTS/$file" --test-threads 2 "$@" 2>&1) || rc=$?
	printf '%s\n' "$said" | sed -n "s/^test \(.*\) \.\.\. ok$/ok $file::\1/p; s/^test \(.*\) \.\.\. FAILED$/FAIL $file::\1/p
		s/^test \(.*\) \.\.\. ignored.*/SKIPPED $file::\1/p; s/^SKIPPED /SKIPPED $file: /p"
	[ $rc = 0 ] || printf '%s\n' "$said" | grep -v '\.\.\. ok$' | sed 's/^/  | /'
}
end_of_job() { echo "job ended"; }
