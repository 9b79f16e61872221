"""What teams wrote against the third generation (3.3 to 3.4) of the known console.

Usage: generation3.py BASE USER PASSWORD APPNAME. Prints "ok" when all was as expected.
"""

import http.cookiejar
import json
import sys
import time
import urllib.parse
import urllib.request

base, user, password, app = sys.argv[1:5]
jar = http.cookiejar.CookieJar()
web = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))


def call(path, **params):
    body = urllib.parse.urlencode(params).encode()
    with web.open(base.rstrip("/") + path, body, timeout=20) as answer:
        assert answer.headers.get_content_type() == "application/json", (path, answer.headers.get_content_type())
        return json.loads(answer.read())


def ok(path, **params):
    reply = call(path, **params)
    assert reply["code"] == 200 and reply["success"] is True and reply["msg"] == "Success", (path, reply)
    return reply["data"]


# without a session: an envelope that says no
reply = call("/jobinfo/pageList", jobGroup=-1, triggerStatus=-1, jobDesc="", executorHandler="", author="", offset=0, pagesize=10)
assert reply["code"] == 500 and reply["msg"], reply
assert call("/auth/doLogin", userName=user, password="not it")["code"] == 500
ok("/auth/doLogin", userName=user, password=password)
assert "xxl_job_login_token" in {c.name for c in jar}, [c.name for c in jar]

found = ok("/jobgroup/pageList", appname=app, title="", offset=0, pagesize=10)
assert set(found) == {"offset", "pagesize", "data", "total"}, found
if found["total"] == 0:
    ok("/jobgroup/insert", appname=app, title="Third generation", addressType=0, addressList="")
    found = ok("/jobgroup/pageList", appname=app, title="", offset=0, pagesize=10)
group = found["data"][0]["id"]

job = dict(
    jobGroup=group, jobDesc="Third: nightly", author="team", alarmEmail="", scheduleType="CRON", scheduleConf="0 0 2 * * ?",
    glueType="GLUE_SHELL", executorHandler="", executorParam="hello", executorRouteStrategy="ROUND", childJobId="",
    misfireStrategy="FIRE_ONCE_NOW", executorBlockStrategy="DISCARD_LATER", executorTimeout=0, executorFailRetryCount=1,
    glueRemark="first one", glueSource="#!/bin/bash\necho \"script says $1\"\n",
)
new = ok("/jobinfo/insert", **job)
assert isinstance(new, str) and int(new) > 0, new

query = dict(jobGroup=group, triggerStatus=-1, jobDesc="", executorHandler="", author="", offset=0, pagesize=10)
row = ok("/jobinfo/pageList", **query)["data"][0]
assert row["id"] == int(new) and row["glueSource"] == job["glueSource"] and row["executorRouteStrategy"] == "ROUND", row
time.strptime(row["addTime"], "%Y-%m-%d %H:%M:%S")

row.update(jobDesc="Third: renamed", scheduleType="FIX_RATE", scheduleConf="3600")
ok("/jobinfo/update", **{k: v for k, v in row.items() if k in job or k == "id"})
ok("/jobinfo/start", **{"ids[]": new})
row = ok("/jobinfo/pageList", **dict(query, triggerStatus=1))["data"][0]
assert row["jobDesc"] == "Third: renamed" and row["scheduleConf"] == "3600" and row["triggerStatus"] == 1, row
assert row["glueSource"] == job["glueSource"], "an edit leaves the script"
assert len(ok("/jobinfo/nextTriggerTime", scheduleType="FIX_RATE", scheduleConf="3600")) == 5

ok("/jobcode/save", id=new, glueSource="#!/bin/bash\necho \"second script says $1\"\n", glueRemark="second one")
ok("/jobinfo/trigger", id=new, executorParam="by <script>", addressList="")
for _ in range(200):
    logs = ok("/joblog/pageList", jobGroup=group, jobId=new, logStatus=-1, filterTime="2000-01-01 00:00:00 - 2099-12-31 23:59:59", offset=0, pagesize=10)
    assert set(logs) == {"offset", "pagesize", "data", "total"}, logs
    if logs["data"] and logs["data"][0]["handleCode"] != 0:
        break
    time.sleep(0.1)
run = logs["data"][0]
assert logs["total"] == 1 and run["triggerCode"] == 200 and run["handleCode"] == 200 and run["executorParam"] == "by <script>", run
time.strptime(run["triggerTime"], "%Y-%m-%d %H:%M:%S")
log = ok("/joblog/logDetailCat", logId=run["id"], fromLineNum=1)
assert "second script says by &lt;script&gt;" in log["logContent"], log
assert call("/joblog/logKill", id=run["id"])["code"] == 500, "it has ended"

chart = ok("/chartInfo", startDate="2000-01-01 00:00:00", endDate="2099-12-31 23:59:59")
assert chart["triggerCountSucTotal"] + chart["triggerCountFailTotal"] + chart["triggerCountRunningTotal"] >= 1, chart
ok("/joblog/clearLog", jobGroup=group, jobId=0, type=9)
assert ok("/joblog/pageList", jobGroup=group, jobId=new, logStatus=-1, filterTime="", offset=0, pagesize=10)["total"] == 0

ok("/user/insert", username="scripted", password="first secret", role=0, permission=group)
person = ok("/user/pageList", username="scripted", role=0, offset=0, pagesize=10)["data"][0]
assert person["permission"] == str(group) and person["password"] == "" and not person["token"], person
ok("/user/update", id=person["id"], username="scripted", password="second secret", role=0, permission="")
assert ok("/user/pageList", username="scripted", role=-1, offset=0, pagesize=10)["data"][0]["permission"] == ""
assert call("/auth/updatePwd", oldPassword="not it", password="third secret")["code"] == 500
assert call("/user/delete", **{"ids[]": ok("/user/pageList", username=user, role=1, offset=0, pagesize=10)["data"][0]["id"]})["code"] == 500, "oneself"
ok("/user/delete", **{"ids[]": person["id"]})

assert call("/jobinfo/stop", **{"ids[]": new, "id": new})["code"] == 500, "exactly one id"
ok("/jobinfo/stop", **{"ids[]": new})
ok("/jobinfo/delete", **{"ids[]": new})
assert ok("/jobinfo/pageList", **query)["total"] == 0
assert ok("/user/pageList", username=user, role=-1, offset=0, pagesize=10)["data"][0]["password"] == ""
ok("/jobgroup/delete", **{"ids[]": group})
ok("/auth/logout")
assert call("/jobinfo/pageList", **query)["code"] == 500
print("ok")
